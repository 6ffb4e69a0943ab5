package io.penstock.examples.incidents.ours;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockDraft;
import io.penstock.block.BlockKey;
import io.penstock.block.GranuleRange;
import io.penstock.block.IncompleteBlockException;
import io.penstock.recording.RecordedEvent;
import io.penstock.tier.Reservation;
import java.util.List;
import org.jspecify.annotations.Nullable;

/// A block is complete when each granule has landed here and was verified here: what a sender says does not count.
public final class CountedBytes extends StackRig {
  private List<BlockKey> wanted = List.of();
  private @Nullable Reservation reservation;
  private int refused;
  private boolean told;
  private @Nullable Read read;

  public CountedBytes() {
    super(4, options());
  }

  @Override
  void take(RecordedEvent input) {
    switch (input.kind()) {
      case FLOW -> {
        wanted = input.keys();
        reservation = tier.reserve(wanted, scope()).block(); // the tier has room, so the answer is there
      }
      case FLOW_NEXT -> {
        GranuleRange range = GranuleRange.whole((int) input.number(0), (int) input.number(1));
        List<BlockDraft> drafts = requireNonNull(reservation).drafts();
        drafts.forEach(draft -> land(draft, range));
        if (told) {
          commit(drafts);
        }
      }
      case LINK -> {
        told = true;
        commit(requireNonNull(reservation).drafts());
      }
      case TIMER -> {
        if (read == null && match(wanted) == wanted.size()) {
          read = read(wanted);
        }
      }
      default -> throw new IllegalArgumentException("input must be one of a transfer (was " + input + ")");
    }
  }

  private void commit(List<BlockDraft> drafts) {
    requireNonNull(reservation).commit(drafts).subscribe(receipts -> {}, error -> {
      if (error instanceof IncompleteBlockException) {
        refused++;
      }
    });
  }

  @Override
  public boolean isGood() {
    return refused == 1 && read != null && read.came.equals(wanted) && violation() == null;
  }

  @Override
  public String ending() {
    Read decoded = read;
    return decoded == null
        ? "not decoded"
        : "the commit after OK got IncompleteBlockException; decoded a step later on %d whole blocks"
            .formatted(decoded.came.size());
  }
}
