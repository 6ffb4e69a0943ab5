package io.penstock.s3.object;

import io.penstock.flow.ValueStore;
import io.penstock.s3.reply.Documents;
import io.penstock.s3.reply.S3Code;
import io.penstock.s3.reply.S3Exception;
import io.penstock.s3.request.KeyBytes;
import io.penstock.s3.request.Percent;
import io.penstock.s3.request.Query;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;

/// Lists of keys, page by page, of names that the node knows.
final class Listing {
  /// Header that says whether the node knows the names of all that it has.
  private static final String NAMES = "x-penstock-names";
  private static final int PAGE = 1000;
  /// Behind every name that begins alike: no character is greater.
  private static final String LAST = "\uFFFF";

  private final Scheduler work;
  private final String modified;

  /// @param work runs what would keep an event loop from others
  Listing(Scheduler work, String modified) {
    this.work = work;
    this.modified = modified;
  }

  /// A parameter that is a number.
  ///
  /// @param most which a larger one becomes
  static int number(Ask ask, String name, int other, int most) {
    String text = ask.target().query().get(name, "" + other);
    if (!text.matches("\\d{1,9}")) {
      throw new S3Exception(S3Code.INVALID_ARGUMENT, name + " must be a number from 0 on (was " + text + ")");
    }
    return Math.min(most, Integer.parseInt(text));
  }

  /// Whether the client wants keys in percent-encoding.
  static boolean isEncoded(Ask ask) {
    String encoding = ask.target().query().get("encoding-type", "");
    if (!encoding.isEmpty() && !encoding.equals("url")) {
      throw new S3Exception(S3Code.INVALID_ARGUMENT, "encoding-type must be url (was " + encoding + ")");
    }
    return !encoding.isEmpty();
  }

  /// A key as a list has it.
  static String shown(String key, boolean isEncoded) {
    return isEncoded ? Percent.encode(KeyBytes.key(key), true) : Documents.carried(key);
  }

  Mono<Reply> list(Ask ask) {
    return Mono.fromSupplier(() -> new Page(ask)).flatMap(page -> page.next().thenReturn(page)).subscribeOn(work)
        .map(page -> Reply.of(page.document()).with(NAMES, ask.values().isComplete() ? "all" : "some"));
  }

  /// One page under way. Used by one thread at a time.
  private final class Page {
    private final Ask ask;
    private final boolean isSecond;
    private final String bucket;
    private final String prefix;
    private final String delimiter;
    private final boolean isEncoded;
    private final int most;
    private final @Nullable String token;
    private final String start;
    private final List<Documents.Entry> entries = new ArrayList<>();
    private final List<Documents.Prefix> prefixes = new ArrayList<>();
    /// The last key or common prefix of the page.
    private String last;
    /// The name behind which the next one is looked for.
    private String after = "";
    private boolean mayBeAfter;
    private boolean isFull;
    private boolean hasMore;

    Page(Ask ask) {
      this.ask = ask;
      Query query = ask.target().query();
      String type = query.get("list-type", "2");
      if (!type.equals("2")) {
        throw new S3Exception(S3Code.INVALID_ARGUMENT,
            "list-type must be 2, or not given (was " + (type.isEmpty() ? "empty" : type) + ")");
      }
      isSecond = query.has("list-type");
      bucket = ask.nameOf("");
      prefix = query.get("prefix", "");
      delimiter = query.get("delimiter", "");
      isEncoded = isEncoded(ask);
      most = number(ask, "max-keys", PAGE, PAGE);
      token = isSecond ? query.get("continuation-token") : null;
      start = query.get(isSecond ? "start-after" : "marker", "");
      last = token == null ? start : PageToken.key(token);
    }

    /// Takes keys until the page is full, in a loop: a page has many.
    Mono<Void> next() {
      if (most == 0) {
        return Mono.empty();
      }
      after = bucket + (last.compareTo(prefix) >= 0 ? last : prefix);
      mayBeAfter = last.compareTo(prefix) < 0;
      return Mono.defer(this::step).repeat(() -> !isFull).then();
    }

    private Mono<Void> step() {
      String name = following(after, mayBeAfter);
      mayBeAfter = false;
      hasMore = name != null && entries.size() + prefixes.size() == most;
      isFull = name == null || hasMore;
      if (name == null || hasMore) {
        return Mono.empty();
      }
      String key = name.substring(bucket.length());
      int end = delimiter.isEmpty() ? -1 : key.indexOf(delimiter, prefix.length());
      if (end >= 0) {
        String common = key.substring(0, end + delimiter.length());
        if (!common.equals(last)) {
          prefixes.add(new Documents.Prefix(shown(common)));
        }
        last = common;
        after = bucket + common + LAST;
        return Mono.empty();
      }
      after = name;
      return ask.values().info(name).doOnNext(info -> add(key, info)).then();
    }

    private void add(String key, ValueStore.Info info) {
      last = key;
      entries.add(new Documents.Entry(shown(key), modified, ObjectTag.of(info.version()), info.length(), "STANDARD"));
    }

    /// The first name with the prefix; null if there is none.
    ///
    /// @param alsoAfter whether `after` itself may be it
    private @Nullable String following(String after, boolean alsoAfter) {
      Iterator<String> names = ask.values().names(alsoAfter ? before(after) : after).iterator();
      String begins = bucket + prefix;
      while (names.hasNext()) {
        String name = names.next();
        if (name.startsWith(begins)) {
          if (name.length() > bucket.length()) {
            return name;
          }
        } else if (name.compareTo(begins) > 0) {
          return null;
        }
      }
      return null;
    }

    /// A text before `after` with no name of interest in between.
    private static String before(String after) {
      char end = after.charAt(after.length() - 1);
      return after.substring(0, after.length() - 1) + (char) (end - 1) + LAST;
    }

    private String shown(String key) {
      return Listing.shown(key, isEncoded);
    }

    Documents.KeyList document() {
      String next = hasMore ? PageToken.of(last) : null;
      return new Documents.KeyList(ask.target().bucket(), shown(prefix), delimiter.isEmpty() ? null : shown(delimiter),
          most, hasMore, isSecond ? entries.size() + prefixes.size() : null, isEncoded ? "url" : null,
          isSecond && !start.isEmpty() ? shown(start) : null, token, isSecond ? next : null,
          isSecond ? null : shown(start), !isSecond && hasMore ? shown(last) : null, entries, prefixes);
    }
  }
}
