package io.penstock.storage;

import io.penstock.KvException;
import io.penstock.block.SpaceId;
import io.penstock.storage.checkpoint.Checkpoints;
import io.penstock.storage.checkpoint.Noted;
import io.penstock.storage.record.RecordHead;
import io.penstock.storage.record.RecordKind;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// Checkpoints as far as an opening believes them. One thread.
final class BelievedCheckpoints {
  private final Checkpoints checkpoints;
  private final SpaceId space;
  private final PlaceTable places;
  private final RecordReader reader;
  private List<Noted> named = List.of();

  BelievedCheckpoints(Checkpoints checkpoints, SpaceId space, PlaceTable places, RecordReader reader) {
    this.checkpoints = checkpoints;
    this.space = space;
    this.places = places;
    this.reader = reader;
  }

  /// The records of `segment`, if a checkpoint names them, and the last of them is where it says: whoever has that one has all before it.
  ///
  /// @param before the highest sequence of earlier segments
  @Nullable List<Noted> of(int segment, long before) {
    named = List.of();
    List<Noted> known = checkpoints.read(segment);
    if (known == null || known.isEmpty() || !known.getFirst().key().space().equals(space) || !isPossible(known, before)) {
      return null;
    }
    named = known;
    try {
      RecordHead last = reader.finished(known.getLast().at());
      return last.crc() == known.getLast().crc() && last.sequence() == known.getLast().sequence() ? known : null;
    } catch (KvException e) {
      return null; // the visit will tell
    }
  }

  /// What the checkpoint that was asked for last names, believed or not; empty if it says nothing about this journal.
  List<Noted> named() {
    return named;
  }

  /// Whether each of `known` follows the one before, and every block's record is as long as all.
  private boolean isPossible(List<Noted> known, long sequence) {
    long before = sequence;
    for (Noted each : known) {
      if (each.sequence() <= before || (each.kind() == RecordKind.BLOCK && !places.fits(each.at()))) {
        return false;
      }
      before = each.sequence();
    }
    return true;
  }
}
