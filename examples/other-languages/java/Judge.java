import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.util.List;
import java.util.Map;

/** Asks a process `krafla judge --spec Lock.tla` about each step while the program runs. */
final class Judge implements Steps {
  private final Writer to;
  private final BufferedReader from;

  Judge(List<String> command) throws IOException {
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    to = process.outputWriter();
    from = process.inputReader();
    ask("", "{\"krafla_judge\":1"); // It says that the spec is loaded.
  }

  public void start(Map<String, ?> seen) throws IOException {
    ask("{\"start\":{\"seen\":%s}}\n".formatted(TraceLog.json(seen)), "{\"verdict\":\"held\"");
  }

  public void step(String action, List<?> parameters, Map<String, ?> seen) throws IOException {
    ask("{\"step\":%s,\"parameters\":%s,\"seen\":%s}\n".formatted(
        TraceLog.json(action), TraceLog.json(parameters), TraceLog.json(seen)),
        "{\"verdict\":\"held\"");
  }

  private void ask(String request, String good) throws IOException {
    to.write(request);
    to.flush();
    String answer = from.readLine();
    if (answer == null || !answer.startsWith(good)) {
      throw new AssertionError(answer);
    }
  }
}
