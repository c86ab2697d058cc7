package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
)

// Judge asks a process `krafla judge --spec Lock.tla` about each step while the program runs.
type Judge struct {
	to   *json.Encoder
	from *json.Decoder
}

func NewJudge(command ...string) (*Judge, error) {
	process := exec.Command(command[0], command[1:]...)
	process.Stderr = os.Stderr
	to, _ := process.StdinPipe()
	from, _ := process.StdoutPipe()
	judge := &Judge{json.NewEncoder(to), json.NewDecoder(from)}
	// The first line says that the spec is loaded.
	return judge, errors.Join(process.Start(), judge.from.Decode(&State{}))
}

func (j *Judge) Start(seen State) error { return j.ask(State{"start": State{"seen": seen}}) }

func (j *Judge) Step(action string, seen State, parameters ...any) error {
	return j.ask(State{"step": action, "parameters": parameters, "seen": seen})
}

func (j *Judge) ask(request State) error {
	var answer struct{ Verdict, Reason, Story, Error string }
	err := errors.Join(j.to.Encode(request), j.from.Decode(&answer))
	if err == nil && answer.Verdict != "held" {
		err = fmt.Errorf("%s%s\n%s", answer.Error, answer.Reason, answer.Story)
	}
	return err
}
