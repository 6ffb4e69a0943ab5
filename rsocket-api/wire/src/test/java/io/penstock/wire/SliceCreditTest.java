package io.penstock.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.budget.Permits;
import io.penstock.operator.Serial;
import io.penstock.wire.credit.Budget;
import io.penstock.wire.credit.SliceCredit;
import io.penstock.wire.protocol.WireFormatException;
import io.rsocket.Payload;
import io.rsocket.util.ByteBufPayload;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.reactivestreams.Subscription;

@Timeout(10)
final class SliceCreditTest {
  private static final int SLICE = 100;

  private final Permits budget = new Permits("budget", 4 * SLICE, 4);
  private final Asked asked = new Asked();
  private int turns;
  private final SliceCredit credit = credit(asked);

  private SliceCredit credit(Asked sender) {
    SliceCredit made = new SliceCredit(Budget.of(budget), SLICE, new Serial(error -> {
      throw new AssertionError(error);
    }), () -> turns++);
    made.from(sender);
    return made;
  }

  @Test
  void raise_chargesEachSliceBeforeItIsAskedFor_asFarAsThereIsRoom() {
    credit.raise(3);
    assertThat(asked.slices).isEqualTo(3);
    assertThat(budget.inUse()).isEqualTo(3 * SLICE);
    credit.raise(10);
    assertThat(credit.outstanding()).isEqualTo(4);
    assertThat(budget.waiting()).as("something is on its way, so no other stream waits").isZero();
  }

  @Test
  void raise_withNothingOnItsWayAndNoRoom_waitsForOne() {
    budget.tryAcquire(4 * SLICE);
    credit.raise(2);
    credit.raise(2);
    assertThat(budget.waiting()).isEqualTo(1);
    budget.release(2 * SLICE);
    assertThat(asked.slices).isEqualTo(1);
    assertThat(turns).isEqualTo(1);
  }

  @Test
  void spend_refundsWhatCame_alsoIfItCouldNotLand() {
    credit.raise(2);
    assertThat(credit.<Integer>spend(payload(), data -> data.readableBytes())).isEqualTo(1);
    assertThat(budget.inUse()).isEqualTo(SLICE);
    Payload bad = payload();
    assertThatThrownBy(() -> credit.spend(bad, data -> {
      throw new IllegalStateException("bad");
    })).hasMessage("bad");
    assertThat(bad.refCnt()).isZero();
    assertThat(budget.inUse()).isZero();
  }

  @Test
  void spend_ofUnaskedSlices_isATypedError_andCostsNothing() {
    Payload unasked = payload();
    assertThatThrownBy(() -> credit.spend(unasked, data -> data)).isInstanceOf(WireFormatException.class);
    assertThat(unasked.refCnt()).isZero();
    assertThat(budget.inUse()).isZero();
  }

  @Test
  void open_asksForAFirstPayload_thatIsNotCharged_andForSlicesAsFarAsThereIsRoom() {
    budget.tryAcquire(2 * SLICE);
    credit.open(asked, 3);
    assertThat(asked.slices).isEqualTo(1 + 2);
    assertThat(budget.inUse()).isEqualTo(4 * SLICE);
    credit.spend(payload(), data -> data);
    assertThat(budget.inUse()).as("the first one is no slice").isEqualTo(4 * SLICE);
    credit.spend(payload(), data -> data);
    assertThat(credit.outstanding()).isEqualTo(1);
    credit.stop();
    assertThat(budget.inUse()).isEqualTo(2 * SLICE);
  }

  @Test
  void stop_givesBackWhatIsOnItsWay_andLeavesTheQueue() {
    credit.raise(4);
    SliceCredit waiting = credit(new Asked());
    waiting.raise(1);
    waiting.stop();
    assertThat(budget.waiting()).isZero();
    credit.stop();
    assertThat(budget.inUse()).isZero();
    credit.raise(1);
    assertThat(asked.slices).as("it is over").isEqualTo(4);
  }

  private static Payload payload() {
    return ByteBufPayload.create(new byte[1]);
  }

  private static final class Asked implements Subscription {
    private long slices;

    @Override
    public void request(long n) {
      slices += n;
    }

    @Override
    public void cancel() {
      throw new AssertionError("credit must not end its stream");
    }
  }
}
