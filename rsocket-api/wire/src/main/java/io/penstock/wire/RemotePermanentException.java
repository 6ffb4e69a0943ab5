package io.penstock.wire;

import io.penstock.PermanentKvException;
import org.jspecify.annotations.Nullable;

/// The peer reported a failure that no retry mends. Where a field broke a rule, the peer names field, rule and value as
/// data; a peer of an earlier release tells them in the message alone.
public final class RemotePermanentException extends PermanentKvException {
  private final int code;
  private final @Nullable String field;
  private final @Nullable Object wanted;
  private final @Nullable Object actual;

  RemotePermanentException(int code, String message) {
    this(code, message, null, null, null);
  }

  RemotePermanentException(int code, String message, @Nullable String field, @Nullable Object wanted,
      @Nullable Object actual) {
    super(message);
    this.code = code;
    this.field = field;
    this.wanted = wanted;
    this.actual = actual;
  }

  /// The numeric code of the ERROR frame, see [ErrorCode].
  public int code() {
    return code;
  }

  /// The field that broke a rule, such as `space.layout.tokens`; null if the peer named none.
  public @Nullable String field() {
    return field;
  }

  /// What the peer wants: a `Long`, a `String` (a value, or a rule in words), a list of [io.penstock.block.Plane], or
  /// null.
  public @Nullable Object wanted() {
    return wanted;
  }

  /// What the peer was given, of the types of [#wanted()].
  public @Nullable Object actual() {
    return actual;
  }
}
