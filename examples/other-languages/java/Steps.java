import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Hears of each step of a program: a TraceLog or a Judge. */
interface Steps extends AutoCloseable {
  /** Tells in which state the program begins. */
  void start(Map<String, ?> seen) throws IOException;

  /** Tells that the program took an action, and in which state it was afterwards. */
  void step(String action, List<?> parameters, Map<String, ?> seen) throws IOException;

  /** Tells that the program refused an action; a log has the steps alone. */
  default void refuse(String action, List<?> parameters) throws IOException {}

  /** Saves what was found; a log is a file already. */
  default void save(String file) throws IOException {}

  default void close() throws IOException {}
}
