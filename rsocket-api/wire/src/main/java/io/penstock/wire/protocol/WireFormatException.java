package io.penstock.wire.protocol;

import io.penstock.PermanentKvException;
import io.penstock.block.UnexpectedSliceException;

/// Bytes from the peer break a rule of the protocol: *field must be rule (was value)*.
public final class WireFormatException extends PermanentKvException implements WireFailure {
  private final ErrorCode code;
  private final String field;
  private final Object wanted;
  private final Object actual;

  /// @param wanted a rule in words, or the one value that is right
  public WireFormatException(ErrorCode code, String field, Object wanted, Object actual) {
    super(field + " must be " + wanted + " (was " + actual + ")");
    this.code = code;
    this.field = field;
    this.wanted = wanted;
    this.actual = actual;
  }

  public static WireFormatException slice(String field, String rule, Object value) {
    return new WireFormatException(ErrorCode.BAD_SLICE, "slice " + field, rule, value);
  }

  public static WireFormatException slice(UnexpectedSliceException error) {
    return slice(error.field(), error.wanted(), error.actual());
  }

  public static WireFormatException request(String field, String rule, Object value) {
    return new WireFormatException(ErrorCode.BAD_REQUEST, field, rule, value);
  }

  /// Code that is sent to the peer.
  public ErrorCode code() {
    return code;
  }

  /// The field that is wrong.
  public String field() {
    return field;
  }

  /// The rule that the field breaks, or the value that it should have.
  public Object wanted() {
    return wanted;
  }

  /// Value of the field.
  public Object actual() {
    return actual;
  }
}
