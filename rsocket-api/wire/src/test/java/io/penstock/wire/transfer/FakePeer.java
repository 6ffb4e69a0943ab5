package io.penstock.wire.transfer;

import io.penstock.TransientKvException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Sinks;

/// A peer whose operations end when the test says so.
final class FakePeer implements SegmentLink.Connector {
  final List<Link> links = new ArrayList<>();
  final List<Call> calls = new ArrayList<>();
  final List<SegmentLink.Letter> letters = new ArrayList<>();
  SegmentRegistry registry = new SegmentRegistry(1);
  int described;
  @Nullable Throwable refusal;
  /// Most bytes of a group; 0 for no groups.
  int groupBytes;
  /// Whether connections wait for the test to make or refuse them.
  boolean holdsConnections;
  final List<MonoSink<SegmentLink>> connecting = new ArrayList<>();
  /// Whether an operation that is stopped ends at once.
  boolean quickToStop;

  FakePeer(Map<String, MemorySegment> segments) {
    registry.register(segments);
  }

  /// Operations that have not ended, in the order in which they began.
  List<Call> open() {
    return calls.stream().filter(call -> !call.over).toList();
  }

  @Override
  public Mono<SegmentLink> connect(String peer, long engine) {
    return Mono.create(sink -> {
      if (refusal != null) {
        sink.error(new TransientKvException(String.valueOf(refusal.getMessage())));
      } else if (holdsConnections) {
        connecting.add(sink);
      } else {
        connect(sink);
      }
    });
  }

  private void connect(MonoSink<SegmentLink> sink) {
    Link link = new Link();
    links.add(link);
    sink.success(link);
  }

  /// Ends the oldest wait for a connection.
  void connect(boolean refused) {
    MonoSink<SegmentLink> sink = connecting.removeFirst();
    if (refused) {
      sink.error(new TransientKvException("refused"));
    } else {
      connect(sink);
    }
  }

  final class Call implements SegmentLink.Operation {
    final List<SegmentLink.Range> ranges;
    final long bytes;
    final long offset;
    private final SegmentLink.Ending ending;
    boolean aborted;
    boolean over;

    Call(List<SegmentLink.Range> ranges, SegmentLink.Ending ending) {
      this.ranges = ranges;
      this.offset = ranges.isEmpty() ? -1 : ranges.getFirst().offset();
      this.bytes = ranges.stream().mapToLong(SegmentLink.Range::length).sum();
      this.ending = ending;
    }

    @Override
    public void abort() {
      aborted = true;
      if (quickToStop) {
        end(new CancellationException("stopped"));
      }
    }

    void end(@Nullable Throwable error) {
      if (!over) {
        over = true;
        ending.ended(error);
      }
    }
  }

  final class Link implements SegmentLink {
    private final Sinks.Empty<Void> closed = Sinks.empty();
    boolean isClosed;
    /// Whether the connection is gone and has not told of it.
    boolean isOver;

    @Override
    public Mono<SegmentRegistry.Snapshot> describe() {
      return Mono.fromSupplier(() -> {
        described++;
        return registry.snapshot();
      });
    }

    @Override
    public int groupBytes() {
      return groupBytes;
    }

    @Override
    public Operation read(List<Range> ranges, List<MemorySegment> into, Ending ending) {
      return begin(ranges, ending);
    }

    @Override
    public Operation write(List<Range> ranges, List<MemorySegment> from, Ending ending) {
      return begin(ranges, ending);
    }

    @Override
    public Operation tell(Letter letter, Ending ending) {
      letters.add(letter);
      return begin(List.of(), ending);
    }

    private Call begin(List<Range> ranges, Ending ending) {
      Call call = new Call(ranges, ending);
      calls.add(call);
      return call;
    }

    @Override
    public boolean isOver() {
      return isOver;
    }

    @Override
    public Mono<Void> onClose() {
      return closed.asMono();
    }

    @Override
    public void close() {
      isClosed = true;
      closed.tryEmitEmpty();
    }
  }
}
