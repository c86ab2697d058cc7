use std::io::{self, BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

const HELD: &str = r#"{"verdict":"held""#;

/// Asks a process `krafla judge --spec Lock.tla` about each step while the program runs.
pub struct Judge {
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Judge {
    pub fn new(command: &[String]) -> io::Result<Self> {
        let mut process = Command::new(&command[0]);
        process.args(&command[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = process.spawn()?;
        let from = BufReader::new(child.stdout.take().unwrap());
        let mut judge = Self { to: child.stdin.take(), from };
        judge.read(r#"{"krafla_judge":1"#)?; // It says that the spec is loaded.
        Ok(judge)
    }

    fn ask(&mut self, request: &str, good: &str) -> io::Result<()> {
        self.to.as_mut().unwrap().write_all(format!("{{{request}}}\n").as_bytes())?;
        self.read(good)
    }

    fn read(&mut self, good: &str) -> io::Result<()> {
        let mut answer = String::new();
        self.from.read_line(&mut answer)?;
        answer.starts_with(good).then_some(()).ok_or_else(|| io::Error::other(answer))
    }
}

impl crate::Steps for Judge {
    fn start(&mut self, seen: &str) -> io::Result<()> {
        self.ask(&format!(r#""start":{{"seen":{seen}}}"#), HELD)
    }

    fn step(&mut self, action: &str, parameters: &str, seen: &str) -> io::Result<()> {
        self.ask(&format!(r#""step":"{action}","parameters":{parameters},"seen":{seen}"#), HELD)
    }

    fn stay(&mut self, seen: &str) -> io::Result<()> {
        self.ask(&format!(r#""stay":{{"seen":{seen}}}"#), HELD)
    }

    fn refuse(&mut self, action: &str, parameters: &str, seen: &str) -> io::Result<()> {
        self.ask(&format!(r#""refuse":"{action}","parameters":{parameters},"seen":{seen}"#), HELD)
    }

    fn save(&mut self, file: &str) -> io::Result<()> {
        self.ask(&format!(r#""save":"{file}""#), r#"{"saved""#)
    }

    fn close(&mut self) -> io::Result<()> {
        drop(self.to.take());
        self.read(HELD)
    }
}
