package io.penstock.lab.torture;

import io.penstock.lab.torture.PhasePage.Lane;
import io.penstock.storage.engine.ForwardingEngine;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/// An engine that states its operations on a [PhasePage].
///
/// The thread that appends reads a record only to move it, and writes a checkpoint only behind a call of this, so each
/// phase ends where the next call begins.
final class WatchedEngine extends ForwardingEngine {
  /// Offset of the kind of a record, and the kind that removes others.
  private static final int KIND_OFFSET = 10;
  private static final int REMOVAL = 2;
  private static final ValueLayout.OfShort KIND = ValueLayout.JAVA_SHORT_UNALIGNED.withOrder(ByteOrder.LITTLE_ENDIAN);

  private final SegmentEngine engine;
  private final PhasePage page;
  /// Bytes of a segment behind which the next record begins another.
  private final long rollBytes;
  private volatile @Nullable Thread appending;
  private volatile boolean segmentEnded;
  /// The rest is of the appending thread.
  private boolean moving;
  private int segment;

  /// @param rollBytes size at which this ends a segment, so that the end is visible
  WatchedEngine(SegmentEngine engine, PhasePage page, long rollBytes) {
    super(engine);
    this.engine = engine;
    this.page = page;
    this.rollBytes = rollBytes;
  }

  /// From now on all operations are stated; earlier ones belong to the opening.
  void watch(Thread appendingThread) {
    appending = appendingThread;
  }

  private @Nullable Lane lane() {
    Thread known = appending;
    return known == null ? null : known.equals(Thread.currentThread()) ? Lane.APPENDING : Lane.SYNCING;
  }

  private void idle() {
    if (lane() == Lane.APPENDING) {
      page.idle(Lane.APPENDING);
    }
  }

  @Override
  public Location append(MemorySegment... parts) {
    Lane lane = lane();
    if (lane == null) {
      return engine.append(parts);
    }
    page.begin(lane, phase(parts[0]));
    moving = false;
    Location at = engine.append(parts);
    if (at.offset() + at.length() > rollBytes) {
      page.begin(lane, Phase.ROLL);
      engine.roll();
    }
    if (segment != 0 && at.segment() != segment) {
      segmentEnded = true;
      page.begin(lane, Phase.CHECKPOINT);
    } else {
      page.idle(lane);
    }
    segment = at.segment();
    return at;
  }

  private Phase phase(MemorySegment head) {
    if (engine.activeSegment() == 0) {
      return Phase.ROLL;
    }
    if (moving) {
      return Phase.RECLAIM;
    }
    return head.get(KIND, KIND_OFFSET) == REMOVAL ? Phase.REMOVE : Phase.APPEND;
  }

  @Override
  public void read(Location record, long from, MemorySegment into) {
    reads();
    engine.read(record, from, into);
  }

  @Override
  public void read(Location record, long from, MemorySegment first, MemorySegment next) {
    reads();
    engine.read(record, from, first, next);
  }

  private void reads() {
    if (lane() == Lane.APPENDING) {
      moving = true;
      page.begin(Lane.APPENDING, Phase.RECLAIM);
    }
  }

  @Override
  public void delete(int number) {
    Lane lane = lane();
    if (lane == null) {
      engine.delete(number);
      return;
    }
    page.begin(lane, Phase.DELETE);
    engine.delete(number);
    page.idle(lane);
  }

  @Override
  public void sync() {
    Lane lane = lane();
    if (lane == null) {
      engine.sync();
      return;
    }
    page.begin(lane, Phase.SYNC);
    engine.sync();
    if (segmentEnded) {
      segmentEnded = false;
      page.begin(lane, Phase.CHECKPOINT); // ends with the task
    } else {
      page.idle(lane);
    }
  }

  @Override
  public int activeSegment() {
    idle();
    return engine.activeSegment();
  }
}
