package io.penstock.resp;

import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// The commands of the door, by name.
///
/// | Kind | |
/// |---|---|
/// | `AUTH`; `SET`, `GET`, `EXISTS`, `DEL` of one key | sent by clients that read replies by their width alone |
/// | before `AUTH` | answered to every client |
final class Commands {
  static final String UNKNOWN_USER = "NOAUTH Authentication required.";
  static final String NO_RIGHT = "NOPERM this user has no right to this request";
  private static final Set<String> BEFORE_AUTH = Set.of("AUTH", "HELLO", "QUIT", "RESET", "PING", "CLIENT", "ECHO");

  /// Bytes of a request that an error repeats.
  static final int MOST_SHOWN = 128;

  private static final Map<String, Entry> ALL = new HashMap<>();

  static {
    ReadCommands.addTo(ALL);
    ValueCommands.addTo(ALL);
    ChangeCommands.addTo(ALL);
    ScanCommands.addTo(ALL);
    ConnectionCommands.addTo(ALL);
    ServerCommands.addTo(ALL);
  }

  private Commands() {}

  /// A command.
  ///
  /// @param least arguments, its name among them
  /// @param most arguments, its name among them
  record Entry(int least, int most, Command command) {
    static Entry from(int least, Command command) {
      return new Entry(least, Integer.MAX_VALUE, command);
    }

    static Entry of(int arguments, Command command) {
      return new Entry(arguments, arguments, command);
    }
  }

  static int count() {
    return ALL.size();
  }

  /// Answers a request.
  ///
  /// @param done run once, on the loop, when the reply is written
  static void run(Session session, List<byte[]> args, Runnable done) {
    String word = SetOptions.word(args.getFirst());
    Entry entry = ALL.get(word);
    if (!isNative(args.getFirst(), args.size())) {
      session.parses();
    }
    String problem = problem(session, word, entry, args);
    if (problem != null || entry == null) {
      if (UNKNOWN_USER.equals(problem)) {
        session.refuseRight(UNKNOWN_USER);
      } else {
        session.refuse(String.valueOf(problem));
      }
      done.run();
    } else {
      entry.command.run(session, args, done);
    }
  }

  /// Whether clients that read replies by their width alone send such a request: of one key, and without options.
  static boolean isNative(byte[] name, int arguments) {
    return switch (SetOptions.word(name)) {
      case "SET" -> arguments == 3;
      case "GET", "EXISTS", "DEL" -> arguments == 2;
      case "AUTH" -> arguments == 2 || arguments == 3;
      default -> false;
    };
  }

  private static @Nullable String problem(Session session, String word, @Nullable Entry entry, List<byte[]> args) {
    if (!session.isKnown() && !BEFORE_AUTH.contains(word)) {
      return UNKNOWN_USER;
    } else if (entry == null) {
      return unknown(args);
    }
    return args.size() < entry.least || args.size() > entry.most ? wrongNumber(word) : null;
  }

  private static String unknown(List<byte[]> args) {
    StringBuilder text = new StringBuilder("ERR unknown command '").append(shown(args.getFirst(), MOST_SHOWN))
        .append("', with args beginning with: ");
    int before = text.length();
    for (byte[] argument : args.subList(1, args.size())) {
      int left = MOST_SHOWN - (text.length() - before);
      if (left <= 0) {
        break;
      }
      text.append('\'').append(shown(argument, left)).append("' ");
    }
    return text.toString();
  }

  /// The error for a request of too few or too many arguments.
  ///
  /// @param command with its part, as in `config|get`
  static String wrongNumber(String command) {
    return "ERR wrong number of arguments for '" + command.toLowerCase(Locale.ROOT) + "' command";
  }

  /// The error for a part of `command` that the door has not.
  static String unknownPart(String command, byte[] part) {
    return "ERR unknown subcommand '" + shown(part, MOST_SHOWN) + "'. Try " + command + " HELP.";
  }

  static void help(Session session, List<String> lines) {
    session.replies().array(lines.size());
    lines.forEach(session.replies()::simple);
  }

  /// The first bytes of what a client sent, for a line of text.
  static String shown(byte[] argument, int most) {
    return new String(argument, 0, Math.min(argument.length, most), StandardCharsets.ISO_8859_1)
        .replaceAll("[\r\n]", " ").replaceAll("[^\\x20-\\x7e]", "?");
  }
}
