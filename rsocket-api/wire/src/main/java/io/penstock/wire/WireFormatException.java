package io.penstock.wire;

import io.penstock.PermanentKvException;
import io.penstock.block.UnexpectedSliceException;

/// Bytes from the peer break a rule of the protocol: *field must be rule (was value)*.
public final class WireFormatException extends PermanentKvException {
  private final ErrorCode code;
  private final String field;

  WireFormatException(ErrorCode code, String field, String rule, Object value) {
    super(field + " must be " + rule + " (was " + value + ")");
    this.code = code;
    this.field = field;
  }

  static WireFormatException slice(String field, String rule, Object value) {
    return new WireFormatException(ErrorCode.BAD_SLICE, "slice " + field, rule, value);
  }

  static WireFormatException slice(UnexpectedSliceException error) {
    return slice(error.field(), error.wanted(), error.actual());
  }

  static WireFormatException request(String field, String rule, Object value) {
    return new WireFormatException(ErrorCode.BAD_REQUEST, field, rule, value);
  }

  /// What the peer is told.
  public ErrorCode code() {
    return code;
  }

  /// The field that is wrong.
  public String field() {
    return field;
  }
}
