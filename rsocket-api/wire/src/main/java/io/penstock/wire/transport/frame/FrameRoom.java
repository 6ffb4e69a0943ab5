package io.penstock.wire.transport.frame;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
import java.util.List;

/// Room of a server for unfinished frames, over all connections. Safe from any thread.
///
/// A frame takes its whole length when it begins, if that is at most half of what is free. So the longest frames leave
/// room for shorter ones, however many there are. A frame that finds no room waits in a queue, where a shorter one may
/// pass it.
public final class FrameRoom {
  private final long capacity;
  @GuardedBy("this") private final Deque<Place> waiting = new ArrayDeque<>();
  @GuardedBy("this") private long free;
  /// Bytes of frames that were asked to make way and have not gone.
  @GuardedBy("this") private long leaving;

  public FrameRoom(long capacity) {
    this.capacity = capacity;
    this.free = capacity;
  }

  /// The part of the room that one connection has; at most one frame of a connection is unfinished. Its fields belong
  /// to the room's lock.
  public static final class Place {
    private final Runnable granted;
    private int bytes;
    private boolean isWaiting;
    private boolean isLeaving;

    /// @param granted run when a waiting frame has room; on the thread that made it
    public Place(Runnable granted) {
      this.granted = granted;
    }
  }

  /// True if a frame of `length` has its room now; else it waits.
  public synchronized boolean take(Place place, int length) {
    place.bytes = length;
    place.isWaiting = !fits(length);
    if (place.isWaiting) {
      waiting.add(place);
    } else {
      free -= length;
    }
    return !place.isWaiting;
  }

  /// Gives the room back, or stops to wait for it. Idempotent.
  public void giveBack(Place place) {
    leave(place).forEach(Runnable::run);
  }

  private synchronized List<Runnable> leave(Place place) {
    if (place.isWaiting) {
      waiting.remove(place);
    } else {
      free += place.bytes;
    }
    leaving -= place.isLeaving ? place.bytes : 0;
    place.bytes = 0;
    place.isWaiting = false;
    place.isLeaving = false;
    return grantThoseThatFit();
  }

  /// True if the first in the queue needs the room of this frame, which must then be given back.
  public synchronized boolean mustMakeWay(Place place) {
    if (place.isWaiting || place.isLeaving || place.bytes == 0 || waiting.isEmpty()
        || (free + leaving) / 2 >= waiting.getFirst().bytes) {
      return false;
    }
    place.isLeaving = true;
    leaving += place.bytes;
    return true;
  }

  /// Bytes that unfinished frames have taken.
  public synchronized long taken() {
    return capacity - free;
  }

  /// Frames that wait for room.
  public synchronized int waiting() {
    return waiting.size();
  }

  @GuardedBy("this") private boolean fits(int length) {
    return length <= free / 2;
  }

  @GuardedBy("this") private List<Runnable> grantThoseThatFit() {
    List<Runnable> told = new ArrayList<>(0);
    for (Iterator<Place> places = waiting.iterator(); places.hasNext();) {
      Place place = places.next();
      if (fits(place.bytes)) {
        places.remove();
        place.isWaiting = false;
        free -= place.bytes;
        told.add(place.granted);
      }
    }
    return told;
  }
}
