use std::io::{self, BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

/// Asks a process `krafla judge --spec Lock.tla` about each step while the program runs.
pub struct Judge {
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Judge {
    pub fn new(command: &[String]) -> io::Result<Self> {
        let mut process = Command::new(&command[0]);
        process.args(&command[1..]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = process.spawn()?;
        let (to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut judge = Self { to, from: BufReader::new(from) };
        judge.ask("", r#"{"krafla_judge":1"#)?; // It says that the spec is loaded.
        Ok(judge)
    }

    fn ask(&mut self, request: &str, good: &str) -> io::Result<()> {
        let mut answer = String::new();
        self.to.write_all(request.as_bytes())?;
        self.from.read_line(&mut answer)?;
        answer.starts_with(good).then_some(()).ok_or_else(|| io::Error::other(answer))
    }
}

impl crate::Steps for Judge {
    fn start(&mut self, seen: &str) -> io::Result<()> {
        let start = format!("{{\"start\":{{\"seen\":{seen}}}}}\n");
        self.ask(&start, r#"{"verdict":"held""#)
    }

    fn step(&mut self, action: &str, parameters: &str, seen: &str) -> io::Result<()> {
        let step = format!(r#"{{"step":"{action}","parameters":{parameters},"seen":{seen}}}"#);
        self.ask(&(step + "\n"), r#"{"verdict":"held""#)
    }
}
