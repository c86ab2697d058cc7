package main

import (
	"encoding/json"
	"io"
	"time"
)

// TraceLog writes each step, stay and refusal as a line, for `krafla validate LOG --spec Lock.tla`.
type TraceLog struct{ out *json.Encoder }

// State has the variables of the spec that the program knows, each by its name.
type State map[string]any

type logLine struct {
	Kind       string `json:"kind,omitempty"`
	Action     string `json:"action,omitempty"`
	Parameters []any  `json:"parameters,omitempty"`
	Seen       State  `json:"seen"`
	TimeMs     int64  `json:"time_ms"`
}

func NewTraceLog(out io.Writer) *TraceLog { return &TraceLog{json.NewEncoder(out)} }

// Start tells in which state the program begins.
func (l *TraceLog) Start(seen State) error { return l.Step("Init", seen) }

// Step tells that the program took an action, and in which state it was afterwards.
func (l *TraceLog) Step(action string, seen State, parameters ...any) error {
	return l.write(logLine{Action: action, Parameters: parameters, Seen: seen})
}

// Stay tells that the program took no step, and in which state it was then.
func (l *TraceLog) Stay(seen State) error { return l.write(logLine{Kind: "stay", Seen: seen}) }

// Refuse tells that the program refused an action, and in which state it was afterwards.
func (l *TraceLog) Refuse(action string, seen State, parameters ...any) error {
	return l.write(logLine{Kind: "refusal", Action: action, Parameters: parameters, Seen: seen})
}

func (l *TraceLog) write(line logLine) error {
	line.TimeMs = time.Now().UnixMilli()
	return l.out.Encode(line)
}
