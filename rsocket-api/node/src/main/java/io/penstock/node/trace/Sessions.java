package io.penstock.node.trace;

import io.penstock.block.PrefixHasher;
import io.penstock.node.trace.TraceOptions.TurnForm;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/// Completes the lines of sessions: arrival from the line before and the delay, the prompt from the lines before where
/// a line lists only what is new.
///
/// In the form with new blocks alone, as AIPerf writes it, the prompt of a turn is the prompt before, the answer to it,
/// and the new part. The blocks of an answer have no ids in the trace: each gets one that no other session has. A delay
/// counts from the arrival of the line before, for a trace does not say how long an answer took.
final class Sessions {
  private static final class Session {
    private double millis;
    private BlockRun run = new BlockRun(new long[0]);
    private long inputTokens;
    private long outputTokens;
    private int turns;
  }

  /// Maximum number of blocks of a session, which bounds what one line can add.
  private static final int MOST_BLOCKS = 1 << 20;

  private final Map<String, Session> sessions = new HashMap<>();
  private @Nullable TurnForm form;
  private long blocks;

  /// @param form what later lines list; null to see it from their ids
  Sessions(@Nullable TurnForm form) {
    this.form = form;
  }

  /// Why a line is refused.
  static final class Refused extends Exception {
    private static final long serialVersionUID = 1L;

    private final String field;
    private final String rule;
    private final String value;

    Refused(String field, String rule, String value) {
      super(field, null, false, false);
      this.field = field;
      this.rule = rule;
      this.value = value;
    }

    TraceFormatException in(String file, long line) {
      return new TraceFormatException(file, line, field, rule, value);
    }
  }

  /// Whether a line had a session.
  boolean isUsed() {
    return !sessions.isEmpty();
  }

  /// Number of blocks that the lines of sessions added.
  long blocks() {
    return blocks;
  }

  /// The line with its arrival and its prompt. A line that is refused changes nothing.
  ArrivedRow complete(TraceRow row) throws Refused {
    if (row.session() == null) {
      if (row.delayMillis() != null && row.millis() == null) {
        throw new Refused("session_id", "present beside delay", "absent");
      }
      return new ArrivedRow(stated(row.millis(), "present"), row.inputTokens(), row.outputTokens(),
          new BlockRun(row.ids()), row.ids().length);
    }
    Session session = sessions.get(row.session());
    return session == null ? first(row) : later(row, session);
  }

  private ArrivedRow first(TraceRow row) throws Refused {
    double millis = stated(row.millis(), "present in the first line of a session");
    Session session = new Session();
    session.millis = millis;
    sessions.put(Objects.requireNonNull(row.session()), session);
    return whole(row, session);
  }

  private ArrivedRow later(TraceRow row, Session session) throws Refused {
    if (row.millis() == null && row.delayMillis() == null) {
      throw new Refused("timestamp or delay", "present", "absent");
    }
    boolean isWhole = form(row, session) == TurnForm.WHOLE;
    session.millis =
        row.millis() == null ? session.millis + Objects.requireNonNull(row.delayMillis()) : row.millis();
    return isWhole ? whole(row, session) : grown(row, session);
  }

  private static double stated(@Nullable Double millis, String rule) throws Refused {
    if (millis == null) {
      throw new Refused("timestamp", rule, "absent");
    }
    return millis;
  }

  /// The form of later lines, seen from the first of them that shows it.
  private TurnForm form(TraceRow row, Session session) throws Refused {
    long[] ids = row.ids();
    long repeated = form == TurnForm.WHOLE ? 0 : session.run.common(ids);
    if (form == TurnForm.NEW && repeated > 0) {
      throw new Refused("hash_ids", "new to the session, as other lines list only new blocks (--turns)",
          Arrays.toString(ids));
    }
    if (form == null && ids.length > 0 && !session.run.isEmpty()) {
      form = seen(row, session, repeated);
    }
    return form == null ? TurnForm.NEW : form; // a line without ids, or after one, adds the same in both forms
  }

  private static TurnForm seen(TraceRow row, Session session, long repeated) throws Refused {
    if (row.ids()[0] == session.run.first()) {
      return TurnForm.WHOLE;
    }
    if (repeated == 0 && row.millis() == null) {
      return TurnForm.NEW;
    }
    throw new Refused("hash_ids", "a whole prompt from block " + Long.toUnsignedString(session.run.first())
        + " on, or new blocks behind a delay; --turns states which", Arrays.toString(row.ids()));
  }

  private ArrivedRow whole(TraceRow row, Session session) {
    int before = session.run.count();
    if (session.run.continueTo(row.ids())) {
      blocks += row.ids().length - before;
    } else {
      session.run = new BlockRun(row.ids());
      blocks += row.ids().length;
    }
    return turn(row, session, row.inputTokens());
  }

  private ArrivedRow grown(TraceRow row, Session session) throws Refused {
    String name = Objects.requireNonNull(row.session());
    long answer = Math.ceilDiv(session.outputTokens, row.blockTokens());
    if (answer > MOST_BLOCKS - session.run.count()) {
      throw new Refused("output_length of the line before",
          "<= " + (long) MOST_BLOCKS * row.blockTokens() + " with its prompt",
          String.valueOf(session.outputTokens));
    }
    for (long i = 0; i < answer; i++) {
      session.run.append(PrefixHasher.ofName(name + '/' + session.turns + '/' + i).low());
    }
    session.run.append(row.ids());
    blocks += answer + row.ids().length;
    return turn(row, session, session.inputTokens + session.outputTokens + row.inputTokens());
  }

  private static ArrivedRow turn(TraceRow row, Session session, long inputTokens) {
    session.inputTokens = inputTokens;
    session.outputTokens = row.outputTokens();
    session.turns++;
    return new ArrivedRow(session.millis, inputTokens, row.outputTokens(), session.run, session.run.count());
  }
}
