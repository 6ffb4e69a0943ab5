package io.penstock.gateway.dialect;

import java.util.HexFormat;
import java.util.random.RandomGenerator;

/// The ids of attempts: the request's id and 128 random bits. An engine never sees an id twice, so a late message about
/// one attempt cannot be taken for another, and no client can guess an id. All ids end with as many digits, so none is
/// the beginning of another as long as the ids of requests do not contain one.
final class LegIds {
  private static final HexFormat HEX = HexFormat.of();

  private final RandomGenerator random;

  LegIds(RandomGenerator random) {
    this.random = random;
  }

  String next(EngineRequest request) {
    return request.id() + "-" + unique();
  }

  /// 32 hexadecimal digits.
  String unique() {
    return HEX.toHexDigits(random.nextLong()) + HEX.toHexDigits(random.nextLong());
  }
}
