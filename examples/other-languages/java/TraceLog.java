import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Writes each step, stay and refusal as a line, for `krafla validate LOG --spec Lock.tla`. */
final class TraceLog implements Steps {
  private final Writer out;

  TraceLog(Path file) throws IOException {
    out = Files.newBufferedWriter(file);
  }

  public void start(Map<String, ?> seen) throws IOException {
    step("Init", List.of(), seen);
  }

  public void step(String action, List<?> parameters, Map<String, ?> seen) throws IOException {
    write("\"action\":%s,\"parameters\":%s".formatted(json(action), json(parameters)), seen);
  }

  public void stay(Map<String, ?> seen) throws IOException {
    write("\"kind\":\"stay\"", seen);
  }

  public void refuse(String action, List<?> parameters, Map<String, ?> seen) throws IOException {
    write("\"kind\":\"refusal\",\"action\":%s,\"parameters\":%s".formatted(
        json(action), json(parameters)), seen);
  }

  private void write(String what, Map<String, ?> seen) throws IOException {
    out.write("{%s,\"seen\":%s,\"time_ms\":%d}\n".formatted(
        what, json(seen), System.currentTimeMillis()));
    out.flush();
  }

  static String json(Object value) {
    if (value instanceof Map<?, ?> fields) {
      return fields.entrySet().stream().map(one -> json(one.getKey()) + ":" + json(one.getValue()))
          .collect(Collectors.joining(",", "{", "}"));
    }
    if (value instanceof List<?> members) {
      return members.stream().map(TraceLog::json).collect(Collectors.joining(",", "[", "]"));
    }
    if (value instanceof String text) {
      return '"' + text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + '"';
    }
    return String.valueOf(value);
  }
}
