package io.penstock.resp;

import io.netty.util.NetUtil;
import io.penstock.node.config.DoorSettings;
import io.penstock.node.door.DoorUses.Kind;
import io.penstock.wire.security.Access;
import io.penstock.wire.security.Caller;
import io.penstock.wire.security.Credentials;
import io.penstock.wire.transport.SourceAddress;
import io.rsocket.exceptions.RejectedSetupException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/// Commands about the connection itself.
final class ConnectionCommands {
  private static final String WRONG = "WRONGPASS invalid username-password pair or user is disabled.";
  private static final String DEFAULT_USER = "default";
  /// Length from which on a secret without a user is a token.
  private static final int LEAST_TOKEN = 32;
  /// Signs of the name of a connection.
  private static final int MOST_NAME = 1024;
  /// Number of databases.
  static final int DATABASES = 1 << 20;
  private static final Set<String> SWITCHES = Set.of("ON", "OFF");
  private static final List<String> CLIENT_HELP = List.of("CLIENT <subcommand> [<arg> ...]. Subcommands are:",
      "GETNAME", "    Return the name of this connection.", "ID", "    Return the number of this connection.",
      "INFO", "    Return facts of this connection. INFO and the metrics of the node count all connections.",
      "SETNAME <name>", "    Give this connection a name, for GETNAME and INFO.",
      "MAINT_NOTIFICATIONS, NO-EVICT, NO-TOUCH, SETINFO <arg> ...",
      "    Do nothing: clients say these when they connect.", "HELP", "    Print this help.");

  private ConnectionCommands() {}

  static void addTo(Map<String, Commands.Entry> all) {
    all.put("HELLO", Commands.Entry.from(1, ConnectionCommands::hello));
    all.put("AUTH", Commands.Entry.from(2, ConnectionCommands::auth));
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
      session.reset();
      session.replies().simple("RESET");
    });
    all.put("QUIT", Commands.Entry.from(1, (session, args, done) -> { // nothing behind it is answered
      session.replies().ok();
      session.closeBehindReplies();
    }));
  }

  private static void atOnce(Map<String, Commands.Entry> all, String name, int least, int most,
      Command.AtOnce command) {
    all.put(name, new Commands.Entry(least, most, command.command()));
  }

  private static void hello(Session session, List<byte[]> args, Runnable done) {
    int at = 1;
    boolean three = session.replies().isThree();
    if (args.size() > at) {
      OptionalLong version = number(args.get(at++));
      if (version.isEmpty() || version.getAsLong() < 2 || version.getAsLong() > 3) {
        session.refuse(version.isEmpty()
            ? "ERR Protocol version is not an integer or out of range"
            : "NOPROTO unsupported protocol version");
        done.run();
        return;
      }
      three = version.getAsLong() == 3;
    }
    boolean speaksThree = three;
    Credentials shown = null;
    String called = null;
    while (at < args.size()) {
      String option = SetOptions.word(args.get(at));
      if (option.equals("AUTH") && at + 2 < args.size()) {
        shown = Credentials.simple(text(args.get(at + 1)), text(args.get(at + 2)).toCharArray());
        at += 3;
      } else if (option.equals("SETNAME") && at + 1 < args.size()) {
        called = text(args.get(at + 1));
        at += 2;
      } else {
        session.refuse("ERR Syntax error in HELLO option '" + Commands.shown(args.get(at), Commands.MOST_SHOWN) + "'");
        done.run();
        return;
      }
    }
    String name = called;
    if (shown == null) {
      welcome(session, speaksThree, name);
      done.run();
    } else {
      show(session, shown, () -> welcome(session, speaksThree, name), done);
    }
  }

  private static OptionalLong number(byte[] argument) {
    try {
      return OptionalLong.of(SetOptions.number(argument));
    } catch (IllegalArgumentException e) {
      return OptionalLong.empty();
    }
  }

  private static void welcome(Session session, boolean three, @Nullable String name) {
    if (!session.isKnown()) {
      session.refuse("NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto>"
          + " AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at"
          + " the same time");
      return;
    }
    if (name != null && !isNamed(session, name)) {
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
    if (args.size() > 3) {
      session.refuse(SetOptions.SYNTAX);
      done.run();
      return;
    }
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
    OptionalLong database = number(args.get(1));
    if (database.isEmpty()) {
      session.refuse(SetOptions.NO_INTEGER);
    } else if (database.getAsLong() < 0 || database.getAsLong() >= DATABASES) {
      session.refuse("ERR DB index is out of range");
    } else {
      session.select((int) database.getAsLong());
      session.replies().ok();
    }
  }

  /// Gives the connection a name, or says why not.
  private static boolean isNamed(Session session, String name) {
    boolean isOne = name.length() <= MOST_NAME && name.chars().allMatch(sign -> sign >= '!' && sign <= '~');
    if (isOne) {
      session.call(name);
    } else {
      session.refuse("ERR Client names cannot contain spaces, newlines or special characters.");
    }
    return isOne;
  }

  private static void client(Session session, List<byte[]> args) {
    String word = SetOptions.word(args.get(1));
    int most = switch (word) {
      case "ID", "GETNAME", "INFO" -> 2;
      case "NO-EVICT", "NO-TOUCH", "SETNAME" -> 3;
      default -> Integer.MAX_VALUE;
    };
    if (args.size() > most || (most == 3 && args.size() < most)) {
      session.refuse(Commands.wrongNumber("client|" + word));
      return;
    }
    switch (word) {
      case "ID" -> session.replies().integer(session.number());
      case "GETNAME" -> name(session);
      case "SETNAME" -> {
        if (isNamed(session, text(args.get(2)))) {
          session.replies().ok();
        }
      }
      case "INFO" -> session.replies().verbatim(info(session));
      case "NO-EVICT", "NO-TOUCH" -> {
        if (SWITCHES.contains(SetOptions.word(args.get(2)))) {
          session.replies().ok();
        } else {
          session.refuse(SetOptions.SYNTAX);
        }
      }
      case "MAINT_NOTIFICATIONS", "SETINFO" -> session.replies().ok();
      case "HELP" -> Commands.help(session, CLIENT_HELP);
      default -> session.refuse(Commands.unknownPart("CLIENT", args.get(1)));
    }
  }

  /// The fields of Redis 7.0, which clients look for; those that a door has nothing for are 0.
  private static String info(Session session) {
    String user = session.use().user();
    return "id=" + session.number() + " addr=" + shown(session.channel().remoteAddress()) + " laddr="
        + shown(session.channel().localAddress()) + " fd=0 name=" + session.name() + " age=" + session.ageSeconds()
        + " idle=0 flags=N db=" + session.database() + " sub=0 psub=0 ssub=0 multi=-1 qbuf=0 qbuf-free=0 argv-mem=0"
        + " multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=0 tot-mem=0 events=r cmd=client|info user="
        + (user.isEmpty() ? DEFAULT_USER : user) + " redir=-1 resp=" + (session.replies().isThree() ? 3 : 2) + "\n";
  }

  private static String shown(SocketAddress address) {
    return address instanceof InetSocketAddress ip ? NetUtil.toSocketAddressString(ip) : "";
  }

  private static void name(Session session) {
    if (session.name().isEmpty()) {
      session.replies().nil();
    } else {
      session.replies().bulk(session.name());
    }
  }
}
