package io.penstock.wire.protocol;

import org.jspecify.annotations.Nullable;

/// Numeric codes of RSocket ERROR frames; bit `0x2000` says that a retry may succeed unchanged.
public enum ErrorCode {
  /// The control message cannot be read, or a field breaks its rule.
  BAD_REQUEST(0x1001, -600),
  /// The node has no such route.
  UNKNOWN_ROUTE(0x1002, -1012),
  /// No common protocol version.
  VERSION_MISMATCH(0x1003, -300),
  /// Keys or slices are of another cache space.
  SPACE_MISMATCH(0x1004, -400),
  /// A slice cannot be read, or contradicts its stream.
  BAD_SLICE(0x1005, -700),
  /// A number exceeds a limit in `hello`.
  LIMIT_EXCEEDED(0x1006, -600),
  /// The tier behind the server was closed.
  TIER_CLOSED(0x1007, -1010),
  /// Something that no retry mends.
  PERMANENT(0x1008, -1),
  /// No read lease has this id, or not any more.
  LEASE_EXPIRED(0x1009, -707),
  /// The user's role in the space does not include the request.
  FORBIDDEN(0x100A, -1603),
  /// No segment has this name or handle, or not any more.
  UNKNOWN_SEGMENT(0x100B, -101),
  /// Bytes differ from their checksum.
  BLOCK_CORRUPT(0x2001, -801),
  /// A stream ended before all its granules had arrived.
  INCOMPLETE_BLOCK(0x2002, -800),
  /// Too many wait for memory or bytes in flight.
  BUDGET_EXHAUSTED(0x2003, -200),
  /// An awaited block did not arrive in time.
  AWAIT_TIMEOUT(0x2004, -901),
  /// The node is draining: it ends running work and takes no new work.
  DRAINING(0x2005, -1010),
  /// Something else that may pass.
  TRANSIENT(0x2006, -900),
  /// Leases or pins would exceed their bound.
  HOLD_LIMIT(0x2007, -200),
  /// No room became free for blocks in time.
  ROOM_TIMEOUT(0x2008, -200),
  /// The connection has asked too often.
  RATE_LIMITED(0x2009, -1010),
  /// A rank has another owner, who lives.
  RANK_TAKEN(0x200A, -1603);

  private static final int TRANSIENT_BIT = 0x2000;
  private final int code;
  private final int store;

  ErrorCode(int code, int store) {
    this.code = code;
    this.store = store;
  }

  /// The number on the wire.
  public int code() {
    return code;
  }

  /// The equal or nearest integer code of Mooncake Store; below 0.
  public int store() {
    return store;
  }

  /// Whether a retry may succeed unchanged.
  public boolean isTransient() {
    return isTransient(code);
  }

  /// The constant of a number on the wire; null if there is none here.
  static @Nullable ErrorCode of(int code) {
    for (ErrorCode constant : values()) {
      if (constant.code == code) {
        return constant;
      }
    }
    return null;
  }

  static boolean isTransient(int code) {
    return (code & TRANSIENT_BIT) != 0;
  }
}
