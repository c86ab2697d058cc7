// A lock server whose steps are written to a log, or judged while it runs.
//
//	lock [--bug] log FILE | lock [--bug] judge COMMAND...
package main

import (
	"errors"
	"fmt"
	"math/rand"
	"os"
	"slices"
	"sync"
)

// Steps hears of each step: a TraceLog or a Judge.
type Steps interface {
	Start(seen State) error
	Step(action string, seen State, parameters ...any) error
	Stay(seen State) error
	Refuse(action string, seen State, parameters ...any) error
}

type Server struct {
	mutex  sync.Mutex
	holder string
	queue  []string
	steps  Steps
	bug    bool
}

func (s *Server) seen() State { return State{"holder": s.holder, "queue": s.queue} }

// Acquire gives the client the lock, or a place in the queue.
func (s *Server) Acquire(client string) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	switch {
	case s.holder == "Free":
		s.holder = client
		return s.steps.Step("Acquire", s.seen(), client)
	case s.holder == client:
		return s.steps.Stay(s.seen())
	case slices.Contains(s.queue, client):
		return s.steps.Refuse("Enqueue", s.seen(), client)
	}
	s.queue = append(s.queue, client)
	return s.steps.Step("Enqueue", s.seen(), client)
}

// Release gives the lock to the client that has waited longest.
func (s *Server) Release(client string) error {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.holder == "Free" || (s.holder != client && !s.bug) {
		return s.steps.Refuse("Release", s.seen(), client)
	}
	s.holder = "Free"
	if len(s.queue) > 0 {
		s.holder, s.queue = s.queue[0], s.queue[1:]
	}
	return s.steps.Step("Release", s.seen(), client)
}

func run(server *Server) error {
	if err := server.steps.Start(server.seen()); err != nil {
		return err
	}
	chance := rand.New(rand.NewSource(7))
	for call := 0; call < 200; call++ {
		ask := server.Acquire
		if chance.Intn(2) == 0 {
			ask = server.Release
		}
		if err := ask(fmt.Sprintf("c%d", 1+chance.Intn(3))); err != nil {
			return err
		}
	}
	return nil
}

// judged runs the server under a judge; what it finds is saved.
func judged(server *Server, command []string) error {
	judge, err := NewJudge(command...)
	if err != nil {
		return err
	}
	server.steps = judge
	if err = run(server); err != nil {
		err = errors.Join(err, judge.Save("found.ndjson"))
	}
	return errors.Join(err, judge.Close())
}

func main() {
	arguments := os.Args[1:]
	bug := arguments[0] == "--bug"
	if bug {
		arguments = arguments[1:]
	}
	server := &Server{holder: "Free", queue: []string{}, bug: bug}
	var err error
	if arguments[0] == "log" {
		var file *os.File
		if file, err = os.Create(arguments[1]); err == nil {
			server.steps = NewTraceLog(file)
			err = run(server)
		}
	} else {
		err = judged(server, arguments[1:])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
