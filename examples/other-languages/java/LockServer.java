import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * A lock server whose steps are written to a log, or judged while it runs.
 *
 * <p>java LockServer [--bug] log FILE | java LockServer [--bug] judge COMMAND...
 */
final class LockServer {
  private final List<String> queue = new ArrayList<>();
  private final Steps steps;
  private final boolean bug;
  private String holder = "Free";

  LockServer(Steps steps, boolean bug) throws IOException {
    this.steps = steps;
    this.bug = bug;
    steps.start(seen());
  }

  private Map<String, ?> seen() {
    return Map.of("holder", holder, "queue", List.copyOf(queue));
  }

  /** Gives the client the lock, or a place in the queue. */
  synchronized void acquire(String client) throws IOException {
    if (holder.equals("Free")) {
      holder = client;
      steps.step("Acquire", List.of(client), seen());
    } else if (holder.equals(client)) {
      steps.stay(seen());
    } else if (bug || !queue.contains(client)) {
      queue.add(client);
      steps.step("Enqueue", List.of(client), seen());
    } else {
      steps.refuse("Enqueue", List.of(client), seen());
    }
  }

  /** Gives the lock to the client that has waited longest. */
  synchronized void release(String client) throws IOException {
    if (holder.equals(client)) {
      holder = queue.isEmpty() ? "Free" : queue.remove(0);
      steps.step("Release", List.of(client), seen());
    } else {
      steps.refuse("Release", List.of(client), seen());
    }
  }

  public static void main(String[] words) throws IOException {
    List<String> arguments = new ArrayList<>(List.of(words));
    boolean bug = arguments.remove("--bug");
    List<String> rest = arguments.subList(1, arguments.size());
    try (Steps steps =
        arguments.get(0).equals("log") ? new TraceLog(Path.of(rest.get(0))) : new Judge(rest)) {
      try {
        run(new LockServer(steps, bug));
      } catch (AssertionError found) {
        steps.save("found.ndjson");
        throw found;
      }
    }
  }

  private static void run(LockServer server) throws IOException {
    Random chance = new Random(7);
    for (int call = 0; call < 200; call++) {
      String client = "c" + (1 + chance.nextInt(3));
      if (chance.nextBoolean()) {
        server.acquire(client);
      } else {
        server.release(client);
      }
    }
  }
}
