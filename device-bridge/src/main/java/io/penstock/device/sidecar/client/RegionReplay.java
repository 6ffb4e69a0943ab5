package io.penstock.device.sidecar.client;

import io.penstock.KvException;
import io.penstock.device.sidecar.RegionSpec;
import io.penstock.device.sidecar.RegionState;
import io.penstock.device.sidecar.SideCarCode;
import io.penstock.device.sidecar.SideCarFailure;
import io.penstock.device.sidecar.link.SideCarMessage;
import io.penstock.device.sidecar.link.SideCarMessage.Done;
import io.penstock.device.sidecar.link.SideCarMessage.Keep;
import io.penstock.device.sidecar.link.SideCarMessage.Known;
import io.penstock.device.sidecar.link.SideCarMessage.Query;
import io.penstock.device.sidecar.link.SideCarMessage.Register;
import io.penstock.device.sidecar.link.SideCarMessage.Unregister;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;

/// One attempt to register all regions of a client: the node forgets other regions, then maps host regions, then device
/// buffers, one after the other. Mapped regions are left alone. If one cannot be mapped, the regions that this attempt
/// mapped are unmapped.
///
/// Ends once, in the mailbox, unless the conversation ends first.
final class RegionReplay {
  private final ClientSession talk;
  private final List<RegionSpec> all;
  private final Deque<RegionSpec> left;
  private final Deque<RegionSpec> ours = new ArrayDeque<>();
  private final Runnable done;
  private final Consumer<KvException> failed;

  /// @param failed receives a [SideCarFailure] that names the region
  RegionReplay(ClientSession talk, Collection<RegionSpec> regions, Runnable done, Consumer<KvException> failed) {
    this.talk = talk;
    this.all = new ArrayList<>(regions);
    all.sort(Comparator.comparing((RegionSpec region) -> !region.source().isHost()));
    this.left = new ArrayDeque<>(all);
    this.done = done;
    this.failed = failed;
  }

  void begin() {
    ask(new Keep(all.stream().map(RegionSpec::id).toList()), SideCarFailure.NO_REGION, answer -> next());
  }

  private void next() {
    RegionSpec region = left.poll();
    if (region == null) {
      done.run();
      return;
    }
    ask(new Query(region.id()), region.id(), answer -> {
      if (answer instanceof Known known && known.state() == RegionState.MAPPED && known.bytes() == region.bytes()) {
        next();
      } else {
        register(region);
      }
    });
  }

  private void register(RegionSpec region) {
    ask(new Register(region), region.id(), done -> {
      ours.push(region);
      next();
    });
  }

  private void ask(SideCarMessage request, long region, Consumer<SideCarMessage> then) {
    talk.ask(request, message -> {
      if (message instanceof Done || message instanceof Known) {
        then.accept(message);
      } else {
        undo(SideCarFailure.of(SideCarCode.MALFORMED, region, "answered with " + message));
      }
    }, failure -> undo(named(failure, region)));
  }

  private static KvException named(KvException failure, long region) {
    return failure instanceof SideCarFailure known && known.region() == SideCarFailure.NO_REGION
        && region != SideCarFailure.NO_REGION
            ? SideCarFailure.of(known.code(), region, known.found())
            : failure;
  }

  /// Unmaps the regions of this attempt, the last one first; a region that cannot be unmapped goes with the connection.
  private void undo(KvException why) {
    RegionSpec mapped = ours.poll();
    if (talk.isOver()) {
      return;
    }
    if (mapped == null) {
      failed.accept(why);
      return;
    }
    talk.ask(new Unregister(mapped.id()), done -> undo(why), failure -> undo(why));
  }
}
