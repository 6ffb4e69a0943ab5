package io.penstock.device.sidecar;

import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;

/// Why something was not done, by the number that it has on the socket.
public enum SideCarCode {
  MALFORMED(1, false, "frames must be well formed"),
  VERSION(2, false, "both must speak the same version"),
  FORBIDDEN(3, false, "memory must be that of the peer's own user"),
  MISMATCH(4, false, "a region must keep the form it was registered with"),
  UNKNOWN_REGION(5, false, "region must be registered"),
  OUT_OF_BOUNDS(6, false, "copies must lie inside their regions"),
  UNSEALED(7, false, "a memfd must be sealed against shrinking"),
  REGION_CLOSING(8, false, "region must not be on its way out"),
  UNSUPPORTED(9, false, "the device must be able to reach this memory"),
  BUSY(10, true, "no more copies must be asked for than were granted"),
  COPY_FAILED(11, true, "the copy must succeed; its target may hold anything"),
  TOO_MANY(12, true, "no more must be held than the node has room for"),
  NODE_CLOSED(13, true, "the node must be open"),
  NOT_MAPPED(14, true, "the node must be able to map the memory"),
  /// Never on the socket: the client's own.
  DOWN(15, true, "the side-car must be connected and have registered its regions"),
  /// Never on the socket: the client's own.
  CLOSED(16, false, "the side-car must be open"),
  TOO_LARGE(17, true, "no more host memory must be shared than the node allows");

  private static final Map<Integer, SideCarCode> BY_NUMBER =
      Arrays.stream(values()).collect(Collectors.toMap(SideCarCode::number, code -> code));

  private final int number;
  private final boolean passing;
  private final String rule;

  SideCarCode(int number, boolean passing, String rule) {
    this.number = number;
    this.passing = passing;
    this.rule = rule;
  }

  public int number() {
    return number;
  }

  /// Whether a retry may succeed later.
  public boolean isTransient() {
    return passing;
  }

  /// False for the client's own codes.
  public boolean isOnTheWire() {
    return this != DOWN && this != CLOSED;
  }

  String rule() {
    return rule;
  }

  /// Code of `number`; an unknown number counts as [#MALFORMED].
  public static SideCarCode of(int number) {
    return BY_NUMBER.getOrDefault(number, MALFORMED);
  }
}
