package io.penstock.wire;

import io.penstock.PermanentKvException;
import java.util.List;

/// A client and its node have none of the carriers that the client wants.
public final class CarrierUnavailableException extends PermanentKvException {
  private final List<Carrier> wanted;
  private final List<Carrier> available;

  CarrierUnavailableException(List<Carrier> wanted, List<Carrier> available, String reason) {
    super("carrier must be one of " + labels(available) + ", which are available (was " + labels(wanted) + ": " + reason
        + ")");
    this.wanted = List.copyOf(wanted);
    this.available = List.copyOf(available);
  }

  private static List<String> labels(List<Carrier> carriers) {
    return carriers.stream().map(Carrier::label).toList();
  }

  /// Those that the client wants.
  public List<Carrier> wanted() {
    return wanted;
  }

  /// Those that it could have.
  public List<Carrier> available() {
    return available;
  }
}
