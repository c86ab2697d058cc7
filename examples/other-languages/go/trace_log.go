package main

import (
	"encoding/json"
	"io"
	"time"
)

// TraceLog writes a line for each step; `krafla validate LOG --spec Lock.tla` judges them later.
type TraceLog struct{ out *json.Encoder }

// State has the variables of the spec that the program knows, each by its name.
type State map[string]any

type logLine struct {
	Action     string `json:"action"`
	Parameters []any  `json:"parameters,omitempty"`
	Seen       State  `json:"seen"`
	TimeMs     int64  `json:"time_ms"`
}

func NewTraceLog(out io.Writer) *TraceLog { return &TraceLog{json.NewEncoder(out)} }

// Start tells in which state the program begins.
func (l *TraceLog) Start(seen State) error { return l.Step("Init", seen) }

// Step tells that the program took an action, and in which state it was afterwards.
func (l *TraceLog) Step(action string, seen State, parameters ...any) error {
	return l.out.Encode(logLine{action, parameters, seen, time.Now().UnixMilli()})
}
