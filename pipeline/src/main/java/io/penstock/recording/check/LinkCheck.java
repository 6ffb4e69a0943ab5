package io.penstock.recording.check;

import io.penstock.recording.RecordedEvent;
import io.penstock.recording.RecordedEvent.Kind;
import io.penstock.recording.RecordedLink;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/// Compares the links of two recordings, those of a client and of a node: what one end sent, the other received, in
/// this order.
///
/// The ends of a link are found by their addresses. Sockets of this host have none: their ends are found by their first
/// messages, in the order in which the links came up. Messages that one recording lacks, behind a gap or because it
/// ended before, are counted and are no difference. All messages are held in memory.
public final class LinkCheck {
  private LinkCheck() {}

  /// Both ends of a link.
  ///
  /// @param one number of the link in the first recording
  /// @param other its number in the second recording
  /// @param byAddress whether the ends were found by their addresses, not by their first messages
  /// @param compared messages that both recordings have
  /// @param unseen messages that one of the recordings does not have
  /// @param difference the first one; empty if there is none
  public record Pair(long one, long other, boolean byAddress, long compared, long unseen,
      Optional<String> difference) {}

  /// Compares each link that both recordings have.
  ///
  /// @param one all events of a recording, in order
  public static List<Pair> of(Iterator<RecordedEvent> one, Iterator<RecordedEvent> other) {
    List<End> there = new ArrayList<>(ends(other));
    List<Pair> pairs = new ArrayList<>();
    List<End> unmatched = new ArrayList<>();
    for (End end : ends(one)) {
      there.stream().filter(end::facesByAddress).findFirst()
          .ifPresentOrElse(found -> pairs.add(pair(end, found, true, there)), () -> unmatched.add(end));
    }
    for (End end : unmatched) {
      there.stream().filter(end::facesByMessages).findFirst()
          .ifPresent(found -> pairs.add(pair(end, found, false, there)));
    }
    return List.copyOf(pairs);
  }

  private static Pair pair(End end, End found, boolean byAddress, List<End> there) {
    there.remove(found);
    Direction out = new Direction("link " + end.number + " to " + found.number, end.sent, found.received);
    Direction in = new Direction("link " + found.number + " to " + end.number, found.sent, end.received);
    return new Pair(end.number, found.number, byAddress, out.compared() + in.compared(), out.unseen() + in.unseen(),
        out.difference().or(in::difference));
  }

  private static List<End> ends(Iterator<RecordedEvent> events) {
    SortedMap<Long, End> ends = new TreeMap<>();
    events.forEachRemaining(event -> {
      if (event.kind() == Kind.LINK && event.size() > 2) {
        ends.computeIfAbsent(event.number(0), End::new).add(event);
      }
    });
    return List.copyOf(ends.values());
  }

  private record Message(long stream, long bytes, long demand, String what) {
    static Message of(RecordedEvent event) {
      return event.size() < 6
          ? new Message(0, 0, 0, event.text())
          : new Message(event.number(3), event.number(4), event.number(5), event.text());
    }

    @Override
    public String toString() {
      return what + " of stream " + stream + ", " + bytes + " bytes" + (demand == 0 ? "" : ", demand " + demand);
    }
  }

  /// One end of a link.
  private static final class End {
    private final long number;
    private final SortedMap<Long, Message> sent = new TreeMap<>();
    private final SortedMap<Long, Message> received = new TreeMap<>();
    private String peer = "";
    private String local = "";

    End(long number) {
      this.number = number;
    }

    void add(RecordedEvent event) {
      long what = event.number(1);
      if (what == RecordedLink.UP) {
        String[] addresses = event.text().split(RecordedLink.FROM, 2);
        peer = addresses[0];
        local = addresses.length > 1 ? addresses[1] : "";
      } else if (what == RecordedLink.SENT) {
        sent.put(event.number(2), Message.of(event));
      } else if (what == RecordedLink.RECEIVED) {
        received.put(event.number(2), Message.of(event));
      }
    }

    boolean facesByAddress(End other) {
      return !local.isEmpty() && !other.local.isEmpty() && local.equals(other.peer) && peer.equals(other.local);
    }

    /// Whether the first message that one end sent and the other received agrees, in a direction that has one.
    boolean facesByMessages(End other) {
      return local.isEmpty() && other.local.isEmpty() && areAlike(sent, other.received)
          && areAlike(received, other.sent);
    }

    private static boolean areAlike(SortedMap<Long, Message> from, SortedMap<Long, Message> to) {
      return from.isEmpty() || to.isEmpty() || !from.firstKey().equals(to.firstKey())
          || from.firstEntry().getValue().equals(to.firstEntry().getValue());
    }
  }

  /// Messages of one direction, by their sequence.
  private record Direction(String name, SortedMap<Long, Message> sent, SortedMap<Long, Message> received) {
    long compared() {
      return sent.keySet().stream().filter(received::containsKey).count();
    }

    long unseen() {
      return sent.size() + received.size() - 2 * compared();
    }

    Optional<String> difference() {
      return sent.entrySet().stream()
          .filter(each -> received.containsKey(each.getKey()) && !each.getValue().equals(received.get(each.getKey())))
          .findFirst().map(each -> "%s: message %d was sent as %s and received as %s".formatted(name, each.getKey(),
              each.getValue(), received.get(each.getKey())));
    }
  }
}
