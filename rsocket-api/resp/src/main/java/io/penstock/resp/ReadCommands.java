package io.penstock.resp;

import io.penstock.node.door.DoorUses.Kind;
import io.penstock.wire.security.Role;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Commands that read values, or ask for them.
final class ReadCommands {
  private static final List<String> MEMORY_HELP = List.of("MEMORY <subcommand> [<arg> ...]. Subcommands are:",
      "USAGE <key>", "    Return the bytes that the value of <key> takes in its tiers.", "HELP",
      "    Print this help. INFO memory says what all values take, and may take.");

  private ReadCommands() {}

  static void addTo(Map<String, Commands.Entry> all) {
    all.put("GET", Commands.Entry.of(2, ReadCommands::get));
    all.put("MGET", Commands.Entry.from(2, ReadCommands::several));
    all.put("EXISTS", Commands.Entry.from(2, ReadCommands::exists));
    all.put("STRLEN", Commands.Entry.of(2, ReadCommands::length));
    all.put("TYPE", Commands.Entry.of(2, ReadCommands::type));
    all.put("MEMORY", Commands.Entry.from(2, ReadCommands::memory));
    all.put("TOUCH", Commands.Entry.from(2, ReadCommands::exists));
    all.put("TTL", Commands.Entry.of(2, (session, args, done) -> left(session, args, true, 1000, done)));
    all.put("PTTL", Commands.Entry.of(2, (session, args, done) -> left(session, args, true, 1, done)));
    all.put("EXPIRETIME", Commands.Entry.of(2, (session, args, done) -> left(session, args, false, 1000, done)));
    all.put("PEXPIRETIME", Commands.Entry.of(2, (session, args, done) -> left(session, args, false, 1, done)));
  }

  private static void get(Session session, List<byte[]> args, Runnable done) {
    send(session, args.get(1), done);
  }

  /// Answers with the value of `key`, or nil.
  static void send(Session session, byte[] key, Runnable done) {
    String name = session.name(key);
    if (name == null || !session.may(Role.READER)) {
      if (name == null) {
        session.use().count(Kind.MISS);
      } else {
        session.refuseSilently();
      }
      session.replies().nil();
      done.run();
    } else {
      session.send(name, done);
    }
  }

  private static void several(Session session, List<byte[]> args, Runnable done) {
    session.replies().array(args.size() - 1);
    new Several(session, args, done).next();
  }

  /// The values of several keys, one after the other. Values that are there at once take a loop, not a stack.
  private static final class Several {
    private final Session session;
    private final List<byte[]> args;
    private final Runnable done;
    private int at;
    private boolean isInside;
    private boolean goesOn;

    Several(Session session, List<byte[]> args, Runnable done) {
      this.session = session;
      this.args = args;
      this.done = done;
    }

    void next() {
      goesOn = true;
      if (isInside) {
        return;
      }
      isInside = true;
      while (goesOn) {
        goesOn = false;
        if (++at == args.size() || !session.channel().isActive()) {
          done.run();
          return;
        }
        send(session, args.get(at), this::next);
      }
      isInside = false;
    }
  }

  private static void exists(Session session, List<byte[]> args, Runnable done) {
    session.use().add(Kind.FIND, args.size() - 1L);
    if (!session.may(Role.READER)) {
      session.refuseSilently();
      session.replies().integer(0);
      done.run();
      return;
    }
    int found = 0;
    long graceNanos = session.house().limits().graceNanos();
    List<String> unknown = null;
    for (int i = 1; i < args.size(); i++) {
      String name = session.name(args.get(i));
      if (name != null && session.values().isKnown(name, graceNanos)
          && isKnownWith(session, EngineKey.needed(name), graceNanos)) {
        found++;
      } else if (name != null) {
        unknown = unknown == null ? new ArrayList<>() : unknown;
        unknown.add(name);
      }
    }
    if (unknown == null) {
      session.replies().integer(found);
      done.run();
    } else {
      int known = found;
      session.await(Flux.fromIterable(unknown).concatMap(name -> look(session, name)).count(),
          more -> session.replies().integer(known + (more == null ? 0 : more)), done);
    }
  }

  /// A half that was found counts as a use of the other, too: the engine reads both.
  private static boolean isKnownWith(Session session, @Nullable String needed, long graceNanos) {
    return needed == null || session.values().isKnown(needed, graceNanos);
  }

  /// The length of the value of `name`; empty if it, or the one that it needs, is not there.
  private static Mono<Long> look(Session session, String name) {
    String needed = EngineKey.needed(name);
    Mono<Long> length = session.values().length(name);
    return needed == null ? length : session.values().length(needed).flatMap(there -> length);
  }

  /// Asks for the length of the value of the second argument; null if there is none.
  private static void look(Session session, byte[] key, Consumer<@Nullable Long> then,
      Runnable done) {
    String name = session.name(key);
    if (name == null || !session.may(Role.READER)) {
      then.accept(null);
      done.run();
    } else {
      session.await(session.values().length(name), then, done);
    }
  }

  private static void length(Session session, List<byte[]> args, Runnable done) {
    look(session, args.get(1), found -> session.replies().integer(found == null ? 0 : found), done);
  }

  private static void type(Session session, List<byte[]> args, Runnable done) {
    look(session, args.get(1), found -> session.replies().simple(found == null ? "none" : "string"), done);
  }

  private static void memory(Session session, List<byte[]> args, Runnable done) {
    String word = SetOptions.word(args.get(1));
    if (!word.equals("USAGE") || args.size() < 3) {
      if (word.equals("HELP")) {
        Commands.help(session, MEMORY_HELP);
      } else {
        session.refuse(word.equals("USAGE")
            ? Commands.wrongNumber("memory|usage")
            : Commands.unknownPart("MEMORY", args.get(1)));
      }
      done.run();
      return;
    }
    String problem = args.size() == 3 ? null : problem(args);
    if (problem != null) {
      session.refuse(problem);
      done.run();
      return;
    }
    String name = session.name(args.get(2));
    Mono<Long> bytes =
        name == null || !session.may(Role.READER) ? Mono.empty() : session.values().bytes(name);
    session.await(bytes, found -> {
      if (found == null) {
        session.replies().nil();
      } else {
        session.replies().integer(found);
      }
    }, done);
  }

  /// What is wrong with the options of MEMORY USAGE. All blocks of a value are known: none has to be chosen.
  private static @Nullable String problem(List<byte[]> args) {
    if (args.size() != 5 || !SetOptions.word(args.get(3)).equals("SAMPLES")) {
      return SetOptions.SYNTAX;
    }
    try {
      return SetOptions.number(args.get(4)) < 0 ? SetOptions.SYNTAX : null;
    } catch (IllegalArgumentException e) {
      return e.getMessage();
    }
  }

  /// Tells when a value ends, rounded as Redis does it.
  ///
  /// @param fromNow whether time counts from now on, not from 1970
  private static void left(Session session, List<byte[]> args, boolean fromNow, long unitMillis, Runnable done) {
    look(session, args.get(1), found -> {
      long until = found == null ? -1 : session.values().untilMillis(String.valueOf(session.name(args.get(1))));
      long from = fromNow ? session.house().terms().clocks().wall().millis() : 0;
      long left = (Math.max(0, until - from) + unitMillis / 2) / unitMillis;
      session.replies().integer(found == null ? -2 : until <= 0 ? -1 : left);
    }, done);
  }
}
