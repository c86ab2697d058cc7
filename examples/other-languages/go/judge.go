package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
)

// Judge asks a process `krafla judge --spec Lock.tla` about each step while the program runs.
type Judge struct {
	process *exec.Cmd
	to      io.WriteCloser
	from    *json.Decoder
}

func NewJudge(command ...string) (*Judge, error) {
	process := exec.Command(command[0], command[1:]...)
	process.Stderr = os.Stderr
	to, _ := process.StdinPipe()
	from, _ := process.StdoutPipe()
	judge := &Judge{process, to, json.NewDecoder(from)}
	return judge, errors.Join(process.Start(), judge.read()) // The first line: the spec is loaded.
}

func (j *Judge) Start(seen State) error { return j.ask(State{"start": State{"seen": seen}}) }

func (j *Judge) Step(action string, seen State, parameters ...any) error {
	return j.ask(State{"step": action, "parameters": parameters, "seen": seen})
}

func (j *Judge) Stay(seen State) error { return j.ask(State{"stay": State{"seen": seen}}) }

func (j *Judge) Refuse(action string, seen State, parameters ...any) error {
	return j.ask(State{"refuse": action, "parameters": parameters, "seen": seen})
}

// Save writes the steps up to here to a file, for `krafla explain`.
func (j *Judge) Save(file string) error { return j.ask(State{"save": file}) }

// Close ends the session; its error says that something was violated, or nothing judged.
func (j *Judge) Close() error { return errors.Join(j.to.Close(), j.read(), j.process.Wait()) }

func (j *Judge) ask(request State) error {
	return errors.Join(json.NewEncoder(j.to).Encode(request), j.read())
}

func (j *Judge) read() error {
	var answer struct{ Verdict, Reason, Story, Error string }
	err := j.from.Decode(&answer)
	if err == nil && (answer.Error != "" || answer.Verdict != "held" && answer.Verdict != "") {
		err = errors.New(answer.Verdict + " " + answer.Error + answer.Reason + "\n" + answer.Story)
	}
	return err
}
