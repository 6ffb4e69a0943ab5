package io.penstock.wire.security;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.penstock.wire.security.UserFile.Line;
import io.penstock.wire.transport.SourceAddress;
import io.rsocket.exceptions.RejectedSetupException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Rules for connecting to a node, and for the rights of each user there. Safe from any thread.
public final class Access {
  private static final String OTHERS = "credentials must be those of a user (were not)";
  private static final String UNREADABLE =
      "credentials must be of RSocket's simple or bearer authentication (were not)";
  private static final String NONE = "SETUP must have credentials (had none)";
  private static final String TOO_MANY =
      "secrets of a user that one address shows and that are not right must be <= " + Attempts.MOST
          + " a minute (were more)";
  private static final Set<String> SENTENCES = Set.of(OTHERS, UNREADABLE, NONE, TOO_MANY);

  private static final Logger LOG = LoggerFactory.getLogger(Access.class);

  private static final long LINE_MILLIS = 1_000;

  private final Supplier<UserFile> users;
  private final Supplier<AccessRules> rules;
  /// Earliest time of the next line about a refusal that compares nothing.
  private final AtomicLong nextLineMillis = new AtomicLong(Long.MIN_VALUE);
  private final Attempts attempts = new Attempts();
  private final boolean open;

  private Access(Supplier<UserFile> users, Supplier<AccessRules> rules, boolean open) {
    this.users = requireNonNull(users, "users");
    this.rules = requireNonNull(rules, "rules");
    this.open = open;
  }

  /// Every peer may do everything, and no credentials are looked at.
  public static Access open() {
    return new Access(() -> {
      throw new IllegalStateException("access must have users (is open)");
    }, AccessRules::open, true);
  }

  /// Users who show credentials.
  ///
  /// @param users asked at each SETUP
  /// @param rules asked at each request, and every second for the work that runs
  public static Access of(Supplier<UserFile> users, Supplier<AccessRules> rules) {
    return new Access(users, rules, false);
  }

  /// Whether no credentials are looked at.
  public boolean isOpen() {
    return open;
  }

  /// The role of a user in the space `space`, for clients whose credentials are of another kind; empty if the user must
  /// not know of it.
  public Optional<Role> role(String user, String space) {
    return rules.get().role(user, space);
  }

  /// The users and rules in effect; equal as long as neither changes.
  public Object inEffect() {
    return open ? List.of() : List.of(users.get(), rules.get());
  }

  /// The credentials of one SETUP, or of one request over HTTP, to be compared.
  public final class Attempt {
    private final UserFile known;
    private final Credentials shown;
    private final String door;
    private final Attempts.Who who;
    private final @Nullable Line quick;
    private final boolean heavy;

    /// @param quick the line, if that was told at once
    /// @param heavy whether the line is to be looked for
    private Attempt(UserFile known, Credentials shown, String door, Attempts.Who who, @Nullable Line quick,
        boolean heavy) {
      this.known = known;
      this.shown = shown;
      this.door = door;
      this.who = who;
      this.quick = quick;
      this.heavy = heavy;
    }

    /// Whether [#caller()] takes time: then it must not run on an event loop.
    public boolean isHeavy() {
      return heavy;
    }

    /// The user.
    ///
    /// @throws RejectedSetupException if the credentials are of none
    public Caller caller() {
      Line line = heavy ? compared() : quick;
      if (line == null) {
        throw refused(OTHERS, door, who.user(), who.source());
      }
      return new Caller(line, users, rules);
    }

    private @Nullable Line compared() {
      SecretMark mark = known.mark(shown);
      if (attempts.isWrong(who, mark)) { // an attempt that waited before this one showed it, too
        return null;
      }
      Line line = known.line(shown).orElse(null);
      if (line == null) {
        attempts.failed(who, mark);
      } else {
        attempts.succeeded(who, mark);
      }
      return line;
    }
  }

  /// Whether `refusal` of a connection is about its credentials.
  public static boolean isRefusal(RejectedSetupException refusal) {
    return SENTENCES.contains(String.valueOf(refusal.getMessage()));
  }

  /// Reads the credentials of a SETUP and counts the attempt.
  ///
  /// @param metadata of the SETUP; stays the caller's
  /// @param door at which it came, for the log
  /// @param source equal for connections of one peer
  /// @throws RejectedSetupException if there are none, or the address has failed too often as this user
  public Attempt begin(ByteBuf metadata, String door, Object source, long nowMillis) {
    Optional<Credentials> read = Credentials.read(metadata);
    if (read.isEmpty()) {
      throw refused(UNREADABLE, door, "", source, nowMillis);
    }
    return begin(read.get(), door, source, nowMillis);
  }

  /// Counts the attempt to show `shown` if it is a password, unless it is right and costs nothing to compare. Tokens
  /// are long and random: they are compared at once, and not counted.
  ///
  /// @param door at which they are shown, for the log
  /// @param source equal for connections of one peer
  /// @throws RejectedSetupException if these are none, or the address has failed too often as this user
  public Attempt begin(Credentials shown, String door, Object source, long nowMillis) {
    if (shown instanceof Credentials.None) {
      throw refused(NONE, door, "", source, nowMillis);
    }
    UserFile known = users.get();
    Attempts.Who who = new Attempts.Who(source, UserFile.nameIn(shown));
    boolean isToken = shown instanceof Credentials.Bearer;
    Line quick = isToken || attempts.mayRepeat(source, nowMillis) ? known.quickLine(shown) : null;
    if (isToken || quick != null) {
      return new Attempt(known, shown, door, who, quick, false);
    }
    return switch (attempts.begin(who, known.mark(shown), nowMillis)) {
      case COMPARE -> new Attempt(known, shown, door, who, null, true);
      case WRONG -> new Attempt(known, shown, door, who, null, false);
      case REFUSE -> throw refused(TOO_MANY, door, who.user(), source, nowMillis);
    };
  }

  /// A refusal that costs nothing to provoke: at most one a second has a line.
  private RejectedSetupException refused(String why, String door, String user, Object source, long nowMillis) {
    long due = nextLineMillis.get();
    if (nowMillis >= due && nextLineMillis.compareAndSet(due, nowMillis + LINE_MILLIS)) {
      return refused(why, door, user, source);
    }
    return new RejectedSetupException(why);
  }

  /// @param user that was shown; empty for none that a user can have
  private static RejectedSetupException refused(String why, String door, String user, Object source) {
    LOG.warn("a client was refused at the door {}: {}; user {}, from {}", door, why, user.isEmpty() ? "unknown" : user,
        SourceAddress.words(source));
    return new RejectedSetupException(why);
  }
}
