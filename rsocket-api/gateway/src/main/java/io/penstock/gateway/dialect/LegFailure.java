package io.penstock.gateway.dialect;

import org.jspecify.annotations.Nullable;

/// A leg that failed: which one, at which engine, and what the engine said.
public final class LegFailure extends RuntimeException {
  /// How far the leg came.
  public enum Stage {
    /// The engine was not reached: it has not seen the request.
    CONNECT,
    /// The engine refused, or went before its answer began.
    ANSWER,
    /// The answer began and did not end as the engine ends answers.
    STREAM
  }

  /// An answer, or a line of a stream, has more bytes than the gateway takes.
  static final class AnswerLimit extends RuntimeException {
    private static final long serialVersionUID = 1;

    /// @param what has the limit
    AnswerLimit(String what, int bytes) {
      super(what + " must have at most " + bytes + " bytes (had more)");
    }
  }

  private static final int CLIENT_ERROR = 400;
  private static final int SERVER_ERROR = 500;
  private static final int BAD_GATEWAY = 502;
  private static final int UNAVAILABLE = 503;
  private static final long serialVersionUID = 1;

  private final Leg.Role role;
  private final EngineAddress engine;
  private final Stage stage;
  private final int status;
  private final String body;
  private final boolean repeatable;
  private final String told;

  private LegFailure(Leg leg, Stage stage, int status, String body, String what, @Nullable Throwable cause) {
    this(leg, stage, status, body, what, cause, true);
  }

  private LegFailure(Leg leg, Stage stage, int status, String body, String what, @Nullable Throwable cause,
      boolean repeatable) {
    super(leg.role().word() + " at " + leg.engine() + " " + what
        + (cause == null || cause instanceof AnswerLimit ? "" : ": " + cause.getMessage()), cause);
    this.told = leg.role().word() + " " + what;
    this.role = leg.role();
    this.engine = leg.engine();
    this.stage = stage;
    this.status = status;
    this.body = body;
    this.repeatable = repeatable;
  }

  static LegFailure unreachable(Leg leg, Throwable cause) {
    return new LegFailure(leg, Stage.CONNECT, 0, "", "is unreachable", cause);
  }

  static LegFailure refused(Leg leg, int status, String body) {
    return new LegFailure(leg, Stage.ANSWER, status, body, "answered " + status, null);
  }

  static LegFailure gone(Leg leg, Throwable cause) {
    return new LegFailure(leg, Stage.ANSWER, 0, "", "went before its answer", cause);
  }

  static LegFailure broken(Leg leg, String what, @Nullable Throwable cause) {
    return new LegFailure(leg, Stage.STREAM, 0, "", what, cause);
  }

  /// An answer that the gateway does not take, because it is too large: any engine would make it so.
  static LegFailure tooLarge(Leg leg, AnswerLimit limit) {
    return new LegFailure(leg, Stage.STREAM, 0, "", "gave too much: " + limit.getMessage(), limit, false);
  }

  /// An error event inside of a stream.
  static LegFailure errorEvent(Leg leg, int status, String body) {
    return new LegFailure(leg, Stage.STREAM, status, body, "ended its stream with an error", null);
  }

  /// An answer that breaks a rule of the dialect.
  static LegFailure wrong(Leg leg, String what) {
    return new LegFailure(leg, Stage.ANSWER, 0, "", what, null);
  }

  /// What the engine did in the leg.
  public Leg.Role role() {
    return role;
  }

  /// The engine.
  public EngineAddress engine() {
    return engine;
  }

  /// How far the leg came.
  public Stage stage() {
    return stage;
  }

  /// The status that the engine answered, or 0 when it answered none.
  public int status() {
    return status;
  }

  /// The body of the engine's error, or an empty text.
  public String body() {
    return body;
  }

  /// The failure for clients: it names the leg, and neither where the engine is nor what the system said. The message
  /// of this exception has both, for operators.
  public String told() {
    return told;
  }

  /// The status for the client: the engine's own when the client's request was at fault, 503 when the engine said so,
  /// otherwise 502.
  public int clientStatus() {
    boolean own = (status >= CLIENT_ERROR && status < SERVER_ERROR) || status == UNAVAILABLE;
    return own ? status : BAD_GATEWAY;
  }

  /// Whether another attempt may succeed unchanged: never after a status of 400 to 499, or an answer that was too
  /// large.
  public boolean isTransient() {
    return repeatable && (status < CLIENT_ERROR || status >= SERVER_ERROR);
  }
}
