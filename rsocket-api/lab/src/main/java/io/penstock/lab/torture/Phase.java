package io.penstock.lab.torture;

import java.util.Locale;

/// Phase of a writer when it is killed.
enum Phase {
  /// Between the other phases.
  IDLE(0),
  /// The opening of the journal, with all that it mends and deletes.
  OPEN(60_000),
  /// A block's record.
  APPEND(80),
  /// A record that begins a segment, and with it the end of the one before.
  ROLL(1_000),
  /// The small file that describes the content of a segment.
  CHECKPOINT(4_000),
  /// A live block is moved out of a segment that is mostly dead: read, and written again.
  RECLAIM(150),
  /// A segment without live records goes.
  DELETE(400),
  /// A record that says which blocks were removed.
  REMOVE(60),
  /// The medium is waited for.
  SYNC(6_000);

  private final int micros;

  Phase(int micros) {
    this.micros = micros;
  }

  /// About the maximum length of the phase: the delay after its beginning at which a kill may come.
  int micros() {
    return micros;
  }

  String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
