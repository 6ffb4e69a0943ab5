package io.penstock.resp;

import io.penstock.node.door.DoorValues;
import io.penstock.wire.security.Role;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Commands that change what is stored. `SET` and its like are not among them: their values come while they are read.
final class ChangeCommands {
  /// An end that lies before now: the value goes at once.
  private static final long PAST = 1;
  /// Both take the values away before the reply.
  private static final Set<String> FLUSH_MODES = Set.of("ASYNC", "SYNC");

  private ChangeCommands() {}

  static void addTo(Map<String, Commands.Entry> all) {
    all.put("DEL", Commands.Entry.from(2, ChangeCommands::remove));
    all.put("UNLINK", Commands.Entry.from(2, ChangeCommands::remove));
    all.put("EXPIRE", Commands.Entry.from(3, (session, args, done) -> end(session, args, "EX", done)));
    all.put("PEXPIRE", Commands.Entry.from(3, (session, args, done) -> end(session, args, "PX", done)));
    all.put("EXPIREAT", Commands.Entry.from(3, (session, args, done) -> end(session, args, "EXAT", done)));
    all.put("PEXPIREAT", Commands.Entry.from(3, (session, args, done) -> end(session, args, "PXAT", done)));
    all.put("PERSIST", Commands.Entry.of(2, ChangeCommands::keep));
    all.put("FLUSHDB", Commands.Entry.from(1, ChangeCommands::flush));
    all.put("FLUSHALL", Commands.Entry.from(1, ChangeCommands::flush));
  }

  /// Refuses who lacks `role`. A client that may not read the error hears that nothing changed.
  private static boolean isRefused(Session session, Role role, Runnable done) {
    if (session.may(role)) {
      return false;
    }
    if (session.isParsing()) {
      session.refuseRight(Commands.NO_RIGHT);
    } else {
      session.refuseSilently();
      session.replies().integer(0);
    }
    done.run();
    return true;
  }

  private static void remove(Session session, List<byte[]> args, Runnable done) {
    if (isRefused(session, Role.ADMIN, done)) {
      return;
    }
    session.await(Flux.fromIterable(args).skip(1).mapNotNull(session::name).concatMap(session.values()::remove)
        .filter(was -> was).count(), removed -> session.replies().integer(removed == null ? 0 : removed), done);
  }

  /// A value that is to end is as good as removed: who may not remove may not end one.
  private static void end(Session session, List<byte[]> args, String unit, Runnable done) {
    if (isRefused(session, Role.ADMIN, done)) {
      return;
    }
    try {
      ExpireRule rule = ExpireRule.of(args);
      long number = SetOptions.number(args.get(2));
      long now = session.house().terms().clocks().wall().millis();
      long until = SetOptions.time(SetOptions.word(args.getFirst()), unit, number, now);
      change(session, args.get(1), until <= now ? PAST : until, rule, done);
    } catch (IllegalArgumentException e) {
      session.refuse(String.valueOf(e.getMessage()));
      done.run();
    }
  }

  private static Mono<Boolean> ended(DoorValues values, String name, long untilMillis) {
    return untilMillis == PAST ? values.remove(name) : Mono.fromSupplier(() -> values.end(name, untilMillis));
  }

  private static void keep(Session session, List<byte[]> args, Runnable done) {
    String name = session.name(args.get(1));
    if (name != null && session.values().untilMillis(name) == 0) {
      session.replies().integer(0);
      done.run();
    } else {
      change(session, args.get(1), 0, ExpireRule.ALWAYS, done);
    }
  }

  private static void change(Session session, byte[] key, long untilMillis, ExpireRule rule, Runnable done) {
    if (isRefused(session, Role.WRITER, done)) {
      return;
    }
    String name = session.name(key);
    if (name == null) {
      session.replies().integer(0);
      done.run();
      return;
    }
    DoorValues values = session.values();
    session.await(values.length(name).filter(found -> rule.allows(values.untilMillis(name), untilMillis))
        .filterWhen(found -> ended(values, name, untilMillis)),
        found -> session.replies().integer(found == null ? 0 : 1), done);
  }

  private static void flush(Session session, List<byte[]> args, Runnable done) {
    if (args.size() > 2 || (args.size() == 2 && !FLUSH_MODES.contains(SetOptions.word(args.get(1))))) {
      session.refuse(SetOptions.SYNTAX);
      done.run();
      return;
    }
    if (!session.house().limits().mayFlush()) {
      session.refuse("ERR resp.flush must be true for " + SetOptions.word(args.getFirst()) + " (was false)");
      done.run();
      return;
    }
    if (!session.may(Role.ADMIN)) {
      session.refuseRight(Commands.NO_RIGHT);
      done.run();
      return;
    }
    DoorValues values = session.values();
    boolean isAll = SetOptions.word(args.getFirst()).equals("FLUSHALL");
    int database = session.database();
    Mono<Void> all = Flux.defer(() -> Flux.fromIterable(values.names("")))
        .filter(name -> isAll || Objects.nonNull(RespName.key(database, name))).concatMap(values::remove).then()
        .subscribeOn(session.house().terms().threads().decisions());
    session.await(all, nothing -> session.replies().ok(), done);
  }
}
