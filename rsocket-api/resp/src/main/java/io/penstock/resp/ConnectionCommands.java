package io.penstock.resp;

import io.penstock.PenstockVersion;
import io.penstock.node.config.DoorSettings;
import io.penstock.node.door.DoorUses.Kind;
import io.penstock.wire.security.Access;
import io.penstock.wire.security.Caller;
import io.penstock.wire.security.Credentials;
import io.penstock.wire.transport.SourceAddress;
import io.rsocket.exceptions.RejectedSetupException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// Commands about the connection itself.
final class ConnectionCommands {
  private static final String WRONG = "WRONGPASS invalid username-password pair or user is disabled.";
  private static final String DEFAULT_USER = "default";
  /// Length from which on a secret without a user is a token.
  private static final int LEAST_TOKEN = 32;
  /// Number of databases.
  static final int DATABASES = 1 << 20;
  private static final List<String> CLIENT_HELP = List.of("CLIENT <subcommand> [<arg> ...]. Subcommands are:",
      "GETNAME", "    Return no name: the door keeps none.", "ID", "    Return the number of this connection.",
      "INFO", "    Return facts of this connection. INFO and the metrics of the node count all connections.",
      "MAINT_NOTIFICATIONS, NO-EVICT, NO-TOUCH, SETINFO, SETNAME <arg> ...",
      "    Do nothing: clients say these when they connect.", "HELP", "    Print this help.");

  private ConnectionCommands() {}

  static void addTo(Map<String, Commands.Entry> all) {
    all.put("HELLO", Commands.Entry.from(1, ConnectionCommands::hello));
    all.put("AUTH", new Commands.Entry(2, 3, ConnectionCommands::auth));
    atOnce(all, "SELECT", 2, 2, ConnectionCommands::select);
    atOnce(all, "CLIENT", 2, Integer.MAX_VALUE, ConnectionCommands::client);
    atOnce(all, "PING", 1, 2, (session, args) -> {
      if (args.size() > 1) {
        session.replies().bulk(args.get(1));
      } else {
        session.replies().simple("PONG");
      }
    });
    atOnce(all, "ECHO", 2, 2, (session, args) -> session.replies().bulk(args.get(1)));
    atOnce(all, "RESET", 1, 1, (session, args) -> {
      session.replies().speakThree(false);
      session.select(0);
      session.replies().simple("RESET");
    });
    atOnce(all, "QUIT", 1, Integer.MAX_VALUE, (session, args) -> {
      session.replies().ok();
      session.replies().flush();
      session.close();
    });
  }

  private static void atOnce(Map<String, Commands.Entry> all, String name, int least, int most,
      Command.AtOnce command) {
    all.put(name, new Commands.Entry(least, most, command.command()));
  }

  private static void hello(Session session, List<byte[]> args, Runnable done) {
    int at = 1;
    boolean three = session.replies().isThree();
    if (args.size() > at) {
      String version = SetOptions.word(args.get(at++));
      if (!version.equals("2") && !version.equals("3")) {
        session.refuse("NOPROTO unsupported protocol version");
        done.run();
        return;
      }
      three = version.equals("3");
    }
    boolean speaksThree = three;
    Credentials shown = null;
    while (at < args.size()) {
      String option = SetOptions.word(args.get(at));
      if (option.equals("AUTH") && at + 2 < args.size()) {
        shown = Credentials.simple(text(args.get(at + 1)), text(args.get(at + 2)).toCharArray());
        at += 3;
      } else if (option.equals("SETNAME") && at + 1 < args.size()) {
        at += 2;
      } else {
        session.refuse("ERR Syntax error in HELLO option '" + option.replaceAll("[^A-Z0-9]", "?") + "'");
        done.run();
        return;
      }
    }
    if (shown == null) {
      welcome(session, speaksThree);
      done.run();
    } else {
      show(session, shown, () -> welcome(session, speaksThree), done);
    }
  }

  private static void welcome(Session session, boolean three) {
    if (!session.isKnown()) {
      session.refuse("NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto>"
          + " AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at"
          + " the same time");
      return;
    }
    Replies replies = session.replies();
    replies.speakThree(three);
    replies.map(7);
    replies.bulk("server");
    replies.bulk("penstock");
    replies.bulk("version");
    replies.bulk(ServerCommands.REDIS_VERSION);
    replies.bulk("proto");
    replies.integer(three ? 3 : 2);
    replies.bulk("id");
    replies.integer(session.number());
    replies.bulk("mode");
    replies.bulk("standalone");
    replies.bulk("role");
    replies.bulk("master");
    replies.bulk("modules");
    replies.array(0);
  }

  private static String text(byte[] argument) {
    return new String(argument, StandardCharsets.UTF_8);
  }

  private static void auth(Session session, List<byte[]> args, Runnable done) {
    String last = text(args.getLast());
    Credentials shown = args.size() > 2
        ? Credentials.simple(text(args.get(1)), last.toCharArray())
        : last.length() >= LEAST_TOKEN
            ? Credentials.bearer(last.toCharArray())
            : Credentials.simple(DEFAULT_USER, last.toCharArray());
    show(session, shown, session.replies()::ok, done);
  }

  /// Looks who shows `shown`, off the loop where that takes time; a node without users takes everyone.
  private static void show(Session session, Credentials shown, Runnable welcome, Runnable done) {
    Access access = session.house().terms().access();
    if (access.isOpen()) {
      session.become(null);
      welcome.run();
      done.run();
      return;
    }
    Access.Attempt attempt;
    try {
      attempt = access.begin(shown, DoorSettings.RESP.name(), SourceAddress.of(session.channel().remoteAddress()),
          session.house().terms().clocks().wall().millis());
    } catch (RejectedSetupException e) {
      wrong(session);
      done.run();
      return;
    }
    Mono<Caller> caller = Mono.fromCallable(attempt::caller);
    session.await((attempt.isHeavy() ? caller.subscribeOn(session.house().terms().threads().passwords()) : caller)
        .onErrorComplete(RejectedSetupException.class), known -> shown(session, known, welcome), done);
  }

  private static void shown(Session session, @Nullable Caller known, Runnable welcome) {
    if (known == null) {
      wrong(session);
    } else {
      session.become(known);
      welcome.run();
    }
  }

  /// Every client reads the reply to AUTH as a line.
  private static void wrong(Session session) {
    session.use().count(Kind.REFUSAL);
    session.replies().error(WRONG);
  }

  private static void select(Session session, List<byte[]> args) {
    try {
      int database = Integer.parseInt(SetOptions.word(args.get(1)));
      if (database < 0 || database >= DATABASES) {
        session.refuse("ERR DB index is out of range");
        return;
      }
      session.select(database);
      session.replies().ok();
    } catch (NumberFormatException e) {
      session.refuse(SetOptions.NO_INTEGER);
    }
  }

  private static void client(Session session, List<byte[]> args) {
    String word = SetOptions.word(args.get(1));
    switch (word) {
      case "ID" -> session.replies().integer(session.number());
      case "GETNAME" -> session.replies().nil();
      case "INFO" -> session.replies().bulk("id=" + session.number() + " lib-name=penstock lib-ver="
          + PenstockVersion.current() + " resp=" + (session.replies().isThree() ? 3 : 2));
      case "MAINT_NOTIFICATIONS", "NO-EVICT", "NO-TOUCH", "SETINFO", "SETNAME" -> session.replies().ok();
      case "HELP" -> Commands.help(session, CLIENT_HELP);
      default -> session.refuse(Commands.unknownPart("CLIENT", word));
    }
  }
}
