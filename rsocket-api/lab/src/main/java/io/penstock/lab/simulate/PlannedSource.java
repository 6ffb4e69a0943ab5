package io.penstock.lab.simulate;

import io.penstock.block.BlockLayout;
import io.penstock.block.LayerSlice;
import io.penstock.flow.ProducingSource;
import io.penstock.lab.simulate.RequestRun.WriterGoneException;
import io.penstock.lab.simulate.Scenario.WriterPlan;
import io.penstock.lab.simulate.Scenario.Writing;
import io.penstock.node.content.KvPattern;
import io.penstock.operator.InTurn;
import io.penstock.tier.PutSource;
import reactor.core.publisher.Flux;

/// A writer that does well, or fails as planned after a few slices.
final class PlannedSource implements PutSource {
  private final SimulatedParty party;
  private final WriterPlan plan;
  private final PutSource source;
  private int written;

  PlannedSource(SimulatedParty party, BlockLayout layout, WriterPlan plan) {
    this.party = party;
    this.plan = plan;
    ProducingSource.Writer writer = (key, range, to) -> {
      if (plan.writing() == Writing.THROWS && written++ >= plan.after()) {
        throw new WriterGoneException();
      }
      KvPattern.fill(key, layout, range, to);
    };
    this.source = new ProducingSource(party.arena(), party.plan().order(), writer);
  }

  @Override
  public Flux<LayerSlice> window(PutSource.Window window) {
    Flux<LayerSlice> slices = source.window(window);
    return switch (plan.writing()) {
      case WHOLE, THROWS -> slices;
      case SIGNALS_ERROR -> InTurn.of(slices.take(plan.after()), Flux.error(WriterGoneException::new));
      case ENDS_EARLY -> slices.take(plan.after());
      case HANGS -> InTurn.of(slices.take(plan.after()), Flux.never());
      case IS_CUT_OFF -> slices.doOnNext(slice -> {
        if (written++ == plan.after()) {
          party.disconnect();
        }
      });
    };
  }
}
