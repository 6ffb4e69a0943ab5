package io.penstock.resp;

import io.penstock.node.door.DoorValues;
import io.penstock.wire.security.Role;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/// Commands that change what is stored. `SET` is not among them: its value comes while it is read.
final class ChangeCommands {
  /// An end that lies before now: the value goes at once.
  private static final long PAST = 1;

  private ChangeCommands() {}

  static void addTo(Map<String, Commands.Entry> all) {
    all.put("DEL", Commands.Entry.from(2, ChangeCommands::remove));
    all.put("UNLINK", Commands.Entry.from(2, ChangeCommands::remove));
    all.put("EXPIRE", Commands.Entry.from(3, (session, args, done) -> end(session, args, "EX", done)));
    all.put("PEXPIRE", Commands.Entry.from(3, (session, args, done) -> end(session, args, "PX", done)));
    all.put("PERSIST", Commands.Entry.of(2, ChangeCommands::keep));
    all.put("FLUSHDB", Commands.Entry.from(1, ChangeCommands::flush));
    all.put("FLUSHALL", Commands.Entry.from(1, ChangeCommands::flush));
    all.put("SET", Commands.Entry.from(3, ChangeCommands::refuse));
  }

  /// A `SET` whose value did not come as one: a line of a person, for instance.
  private static void refuse(Session session, List<byte[]> args, Runnable done) {
    session.refuse("ERR SET must come as an array of strings");
    done.run();
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
      long number = SetOptions.number(args.get(2));
      ExpireRule rule = ExpireRule.of(args);
      long until = number <= 0
          ? PAST
          : SetOptions.end(unit.equals("EX") ? "expire" : "pexpire", unit, number,
              session.house().terms().clocks().wall().millis());
      change(session, args.get(1), until, rule, done);
    } catch (IllegalArgumentException e) {
      session.refuse(String.valueOf(e.getMessage()));
      done.run();
    }
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
        .filterWhen(found -> untilMillis == PAST ? values.remove(name) : Mono.just(values.end(name, untilMillis))),
        found -> session.replies().integer(found == null ? 0 : 1), done);
  }

  private static void flush(Session session, List<byte[]> args, Runnable done) {
    if (!session.house().limits().mayFlush() || !session.may(Role.ADMIN)) {
      session.refuse("ERR " + SetOptions.word(args.getFirst())
          + " must be allowed by resp.flush, and to a user who may remove (was not)");
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
