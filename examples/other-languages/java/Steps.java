import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Hears of each step of a program: a TraceLog or a Judge. */
interface Steps extends AutoCloseable {
  /** Tells in which state the program begins. */
  void start(Map<String, ?> seen) throws IOException;

  /** Tells that the program took an action, and in which state it was afterwards. */
  void step(String action, List<?> parameters, Map<String, ?> seen) throws IOException;

  /** Tells that the program took no step, and in which state it was then. */
  void stay(Map<String, ?> seen) throws IOException;

  /** Tells that the program refused an action, and in which state it was afterwards. */
  void refuse(String action, List<?> parameters, Map<String, ?> seen) throws IOException;

  /** Saves what was found; a log is a file already. */
  default void save(String file) throws IOException {}

  default void close() throws IOException {}
}
