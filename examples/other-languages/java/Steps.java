import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Hears of each step of a program: a TraceLog or a Judge. */
interface Steps {
  /** Tells in which state the program begins. */
  void start(Map<String, ?> seen) throws IOException;

  /** Tells that the program took an action, and in which state it was afterwards. */
  void step(String action, List<?> parameters, Map<String, ?> seen) throws IOException;
}
