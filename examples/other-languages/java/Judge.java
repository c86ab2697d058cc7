import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.util.List;
import java.util.Map;

/** Asks a process `krafla judge --spec Lock.tla` about each step while the program runs. */
final class Judge implements Steps {
  private static final String HELD = "{\"verdict\":\"held\"";
  private final Process process;
  private final Writer to;
  private final BufferedReader from;

  Judge(List<String> command) throws IOException {
    process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    to = process.outputWriter();
    from = process.inputReader();
    read("{\"krafla_judge\":1"); // It says that the spec is loaded.
  }

  public void start(Map<String, ?> seen) throws IOException {
    ask(Map.of("start", Map.of("seen", seen)), HELD);
  }

  public void step(String action, List<?> parameters, Map<String, ?> seen) throws IOException {
    ask(Map.of("step", action, "parameters", parameters, "seen", seen), HELD);
  }

  public void stay(Map<String, ?> seen) throws IOException {
    ask(Map.of("stay", Map.of("seen", seen)), HELD);
  }

  public void refuse(String action, List<?> parameters, Map<String, ?> seen) throws IOException {
    ask(Map.of("refuse", action, "parameters", parameters, "seen", seen), HELD);
  }

  /** Writes the steps up to here to a file, for `krafla explain`. */
  public void save(String file) throws IOException {
    ask(Map.of("save", file), "{\"saved\"");
  }

  /** Ends the session; its error says that something was violated, or nothing judged. */
  public void close() throws IOException {
    to.close();
    read(HELD);
  }

  private void ask(Map<String, ?> request, String good) throws IOException {
    to.write(TraceLog.json(request) + "\n");
    to.flush();
    read(good);
  }

  private void read(String good) throws IOException {
    String answer = from.readLine();
    if (answer == null || !answer.startsWith(good)) {
      throw new AssertionError(answer);
    }
  }
}
