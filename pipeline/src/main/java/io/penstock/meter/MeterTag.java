package io.penstock.meter;

import io.micrometer.common.docs.KeyName;

/// The tags of the catalogue. Values are configured names or words of an enum: never a key, a client's text or a
/// message.
enum MeterTag implements KeyName {
  /// Configured name of a tier.
  TIER("tier"),
  /// Medium of a tier's bytes, a [io.penstock.tier.Medium] in lower case.
  MEDIUM("medium"),
  /// Configured name of a level of a tier.
  LEVEL("level"),
  /// Digest of a cache space, in hex; empty for a space with a salt.
  SPACE("space"),
  /// Multiple of the present capacity of a level.
  FACTOR("factor"),
  /// Level that blocks left.
  FROM("from"),
  /// Level to which blocks went.
  TO("to"),
  /// Name of a byte budget.
  BUDGET("budget"),
  /// Name of an arena.
  ARENA("arena"),
  /// Kind of pages of host memory.
  PAGES("pages"),
  /// Name of a device.
  DEVICE("device"),
  /// Operation of a stream: `get`, `put`, `read` or `write`.
  ROUTE("route"),
  /// Carrier of the bytes of slices: `inline` or `shared-memory`.
  CARRIER("carrier"),
  /// Transport of frames: `tcp`, `uds`, `ws` or `local`.
  TRANSPORT("transport"),
  /// Direction of a copy, in lower case; of connections, `in` or `out`.
  DIRECTION("direction"),
  /// Kind of call that copied the elements, in lower case.
  METHOD("method"),
  /// Name of a driver's answer, `other` for one that is not known; of the side-car's, why something was not done; of
  /// connections, the bound that ended one.
  CODE("code"),
  /// Why something was decided, or why the policy keeps a block: a word of an enum in lower case.
  REASON("reason"),
  /// `hit` or `miss`; of found blocks `fetched` or `computed`; of copies `failure` or `timeout`; of syncs `done` or
  /// `failed`; of signals why they changed nothing.
  RESULT("result");

  private final String key;

  MeterTag(String key) {
    this.key = key;
  }

  @Override
  public String asString() {
    return key;
  }
}
