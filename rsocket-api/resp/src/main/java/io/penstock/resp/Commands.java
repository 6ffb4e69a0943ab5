package io.penstock.resp;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The commands of the door, by name.
///
/// | Kind | |
/// |---|---|
/// | `NATIVE` | sent by clients that read replies by their width alone: errors end the connection |
/// | before `AUTH` | answered to every client |
final class Commands {
  static final String UNKNOWN_USER = "NOAUTH Authentication required.";
  static final String NO_RIGHT = "NOPERM this user has no right to this request";
  private static final Set<String> NATIVE = Set.of("SET", "GET", "EXISTS", "DEL", "AUTH");
  private static final Set<String> BEFORE_AUTH = Set.of("AUTH", "HELLO", "QUIT", "RESET", "PING", "CLIENT", "ECHO");

  private static final Map<String, Entry> ALL = new HashMap<>();

  static {
    ReadCommands.addTo(ALL);
    ChangeCommands.addTo(ALL);
    ScanCommands.addTo(ALL);
    ConnectionCommands.addTo(ALL);
    ServerCommands.addTo(ALL);
  }

  private Commands() {}

  /// A command.
  ///
  /// @param least arguments, its name among them
  record Entry(int least, Command command) {}

  static int count() {
    return ALL.size();
  }

  /// Answers a request.
  ///
  /// @param done run once, on the loop, when the reply is written
  static void run(Session session, List<byte[]> args, Runnable done) {
    String word = SetOptions.word(args.getFirst());
    Entry entry = ALL.get(word);
    if (!NATIVE.contains(word)) {
      session.parses();
    }
    String problem = problem(session, word, entry, args.size());
    if (problem != null || entry == null) {
      session.refuse(String.valueOf(problem));
      done.run();
    } else {
      entry.command.run(session, args, done);
    }
  }

  private static @Nullable String problem(Session session, String word, @Nullable Entry entry, int arguments) {
    if (!session.isKnown() && !BEFORE_AUTH.contains(word)) {
      return UNKNOWN_USER;
    } else if (entry == null) {
      return "ERR unknown command '" + printable(word) + "'";
    }
    return arguments < entry.least
        ? "ERR wrong number of arguments for '" + printable(word) + "' command"
        : null;
  }

  private static String printable(String word) {
    return word.substring(0, Math.min(word.length(), 64)).replaceAll("[^\\x20-\\x7e]", "?");
  }
}
