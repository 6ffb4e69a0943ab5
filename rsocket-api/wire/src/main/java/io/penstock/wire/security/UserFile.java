package io.penstock.wire.security;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/// The users of a node, a line each: a name, `:`, and the [SecretHash] of a password or a token. A user may have
/// several lines, so that an old secret can stay valid together with a new one. Empty lines and lines with `#` in front
/// are ignored.
public final class UserFile {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._@-]{1,64}");
  private static final int TOKEN_BYTES = 32;

  /// One line.
  ///
  /// @param text as the file has it
  record Line(String user, SecretHash secret, String text) {
    Line(String user, SecretHash secret) {
      this(user, secret, user + ":" + secret);
    }

    @Override
    public String toString() {
      return "a line of " + user;
    }
  }

  /// A password that was compared and was right.
  ///
  /// @param mark stands for the password
  private record Proven(SecretMark mark, Line line) {}

  private final Map<String, List<SecretHash.Password>> passwords = new HashMap<>();
  private final Map<SecretHash.Token, Line> tokens = new LinkedHashMap<>();
  private final Set<String> texts = new HashSet<>();
  /// The last right password of each user.
  private final Map<String, Proven> proven = new ConcurrentHashMap<>();
  private final SecretMark.Key marks = new SecretMark.Key(new SecureRandom());
  /// Compared if no user has the name, so that the time reveals nothing.
  private final SecretHash.Password other;

  private UserFile(List<Line> lines) {
    SecretHash.Password any = null;
    for (Line line : lines) {
      texts.add(line.text());
      switch (line.secret()) {
        case SecretHash.Password password -> {
          passwords.computeIfAbsent(line.user(), user -> new ArrayList<>(1)).add(password);
          any = password;
        }
        case SecretHash.Token token -> tokens.put(token, line);
      }
    }
    other = any == null ? new SecretHash.Password(1, new byte[16], new byte[32]) : any;
  }

  /// @throws IllegalArgumentException naming the first line that has not the form; secrets are not quoted
  public static UserFile read(Path file) throws IOException {
    List<Line> lines = new ArrayList<>();
    int number = 0;
    for (String line : Files.readAllLines(file)) {
      number++;
      if (!line.isBlank() && !line.startsWith("#")) {
        lines.add(line(file, number, line.strip()));
      }
    }
    if (lines.isEmpty()) {
      throw new IllegalArgumentException(file + " must have a user (has none)");
    }
    return new UserFile(lines);
  }

  private static Line line(Path file, int number, String text) {
    int colon = text.indexOf(':');
    try {
      return new Line(requireName(text.substring(0, Math.max(0, colon))),
          SecretHash.parse(text.substring(colon + 1)));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(file + " line " + number + ": " + e.getMessage(), e);
    }
  }

  private static String requireName(String name) {
    if (!NAME.matcher(name).matches()) {
      throw new IllegalArgumentException("user must be 1 to 64 of A-Z a-z 0-9 . _ @ - (was not)");
    }
    return name;
  }

  /// The line of a user with a password.
  ///
  /// @param rounds of its hash: they make guessing slow, and the first check of a password too
  public static String lineOf(String user, char[] password, int rounds, SecureRandom random) {
    if (password.length == 0) {
      throw new IllegalArgumentException("password must not be empty");
    }
    if (rounds < 1 || rounds > SecretHash.MOST_ROUNDS) {
      throw new IllegalArgumentException(
          "rounds must be in [1, " + SecretHash.MOST_ROUNDS + "] (was " + rounds + ")");
    }
    return requireName(user) + ":" + SecretHash.Password.of(password, rounds, random);
  }

  /// The line of a user with a token.
  public static String lineOf(String user, char[] token) {
    return requireName(user) + ":" + SecretHash.Token.of(token);
  }

  /// A token of 256 random bits.
  public static char[] newToken(SecureRandom random) {
    byte[] bytes = new byte[TOKEN_BYTES];
    random.nextBytes(bytes);
    return HexFormat.of().formatHex(bytes).toCharArray();
  }

  /// The line whose secret `shown` is; empty if there is none. A password that was not right before takes a good part
  /// of a second.
  Optional<Line> line(Credentials shown) {
    Line quick = quickLine(shown);
    return quick == null && shown instanceof Credentials.Simple simple
        ? withPassword(simple)
        : Optional.ofNullable(quick);
  }

  /// The line whose secret `shown` is, as far as that costs little to tell: a token, or a password that was right
  /// before.
  @Nullable Line quickLine(Credentials shown) {
    return switch (shown) {
      case Credentials.None none -> null;
      case Credentials.Bearer bearer -> withToken(SecretHash.digest(bearer.token));
      case Credentials.Simple simple -> before(simple);
    };
  }

  /// The name that `shown` has, of a user or not; empty if it has none, or one that no user can have.
  static String nameIn(Credentials shown) {
    return shown instanceof Credentials.Simple simple && NAME.matcher(simple.user).matches() ? simple.user : "";
  }

  /// Whether the file has `line`, of this or of an earlier content.
  boolean has(Line line) {
    return texts.contains(line.text());
  }

  private @Nullable Line before(Credentials.Simple shown) {
    Proven kept = proven.get(shown.user);
    return kept != null && kept.mark().equals(mark(shown)) ? kept.line() : null;
  }

  /// A user who is not there takes as long as one who is.
  private Optional<Line> withPassword(Credentials.Simple shown) {
    Line found = null;
    for (SecretHash.Password each : passwords.getOrDefault(shown.user, List.of(other))) {
      if (each.isOf(shown.password)) {
        found = new Line(shown.user, each);
      }
    }
    if (found == null || !passwords.containsKey(shown.user)) {
      return Optional.empty();
    }
    proven.put(shown.user, new Proven(mark(shown), found));
    return Optional.of(found);
  }

  /// Stands for a secret and its user in memory: worthless without the key, which never leaves it.
  SecretMark mark(Credentials shown) {
    return switch (shown) {
      case Credentials.None none -> marks.of("", new char[0]);
      case Credentials.Bearer bearer -> marks.of("", bearer.token);
      case Credentials.Simple simple -> marks.of(simple.user, simple.password);
    };
  }

  /// Compares all lines, even after a match.
  private @Nullable Line withToken(byte[] digest) {
    Line found = null;
    for (Map.Entry<SecretHash.Token, Line> line : tokens.entrySet()) {
      if (MessageDigest.isEqual(line.getKey().hash(), digest)) {
        found = line.getValue();
      }
    }
    return found;
  }
}
