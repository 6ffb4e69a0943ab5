package io.penstock.resp;

import io.penstock.wire.security.Role;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Mono;

/// Commands that tell which values there are. They know those that were stored or found since the node began.
final class ScanCommands {
  private static final int MOST_COUNT = 10_000;
  private static final int COUNT = 10;
  private static final List<KeyCounts.Count> NONE = List.of();

  private ScanCommands() {}

  static void addTo(Map<String, Commands.Entry> all) {
    all.put("SCAN", Commands.Entry.from(2, ScanCommands::scan));
    all.put("DBSIZE", Commands.Entry.of(1, ScanCommands::size));
  }

  private static void size(Session session, List<byte[]> args, Runnable done) {
    int database = session.database();
    session.await(Mono.fromSupplier(() -> session.may(Role.READER) ? KeyCounts.of(session) : NONE)
        .subscribeOn(session.house().terms().threads().decisions()),
        found -> session.replies().integer(
            (found == null ? NONE : found).stream().filter(count -> count.database() == database)
                .mapToLong(KeyCounts.Count::keys).sum()),
        done);
  }

  private static void scan(Session session, List<byte[]> args, Runnable done) {
    try {
      Question question = Question.of(args);
      String after = session.house().cursors().name(question.cursor);
      if (!session.may(Role.READER) || after == null || !question.isOfStrings) {
        answer(session, new Page("0", List.of()));
        done.run();
        return;
      }
      int database = session.database();
      session.await(Mono.fromSupplier(() -> page(session, question, database, after))
          .subscribeOn(session.house().terms().threads().decisions()), page -> {
            if (page != null) {
              answer(session, page);
            }
          }, done);
    } catch (IllegalArgumentException e) {
      session.refuse(String.valueOf(e.getMessage()));
      done.run();
    }
  }

  private static Page page(Session session, Question question, int database, String after) {
    List<byte[]> keys = new ArrayList<>();
    int seen = 0;
    for (String name : session.values().names(after)) {
      byte[] key = RespName.key(database, name);
      if (key != null && question.matches(key)) {
        keys.add(key);
      }
      if (++seen == question.count) {
        return new Page(Long.toString(session.house().cursors().after(name)), keys);
      }
    }
    return new Page("0", keys);
  }

  private static void answer(Session session, Page page) {
    Replies replies = session.replies();
    replies.array(2);
    replies.bulk(page.cursor);
    replies.array(page.keys.size());
    page.keys.forEach(replies::bulk);
  }

  private record Page(String cursor, List<byte[]> keys) {}

  private record Question(long cursor, Glob names, int count, boolean isOfStrings) {
    static Question of(List<byte[]> args) {
      long cursor = cursor(SetOptions.word(args.get(1)));
      Glob names = Glob.of("*");
      int count = COUNT;
      boolean isOfStrings = true;
      if (args.size() % 2 != 0) {
        throw new IllegalArgumentException(SetOptions.SYNTAX);
      }
      for (int i = 2; i < args.size(); i += 2) {
        String text = new String(args.get(i + 1), StandardCharsets.ISO_8859_1);
        switch (SetOptions.word(args.get(i))) {
          case "MATCH" -> names = Glob.of(text);
          case "COUNT" -> count = count(SetOptions.number(args.get(i + 1)));
          case "TYPE" -> isOfStrings = text.equalsIgnoreCase("string");
          default -> throw new IllegalArgumentException(SetOptions.SYNTAX);
        }
      }
      return new Question(cursor, names, count, isOfStrings);
    }

    private static long cursor(String text) {
      try {
        return Long.parseUnsignedLong(text);
      } catch (NumberFormatException e) {
        throw new IllegalArgumentException("ERR invalid cursor", e);
      }
    }

    private static int count(long asked) {
      if (asked < 1) {
        throw new IllegalArgumentException(SetOptions.SYNTAX);
      }
      return (int) Math.min(asked, MOST_COUNT);
    }

    boolean matches(byte[] key) {
      return names.matches(new String(key, StandardCharsets.ISO_8859_1));
    }
  }
}
