package io.penstock.disagg.request;

import static io.penstock.disagg.request.RequestState.BOOTSTRAPPING;
import static io.penstock.disagg.request.RequestState.FAILED;
import static io.penstock.disagg.request.RequestState.SUCCESS;
import static io.penstock.disagg.request.RequestState.TRANSFERRING;
import static io.penstock.disagg.request.RequestState.WAITING_FOR_INPUT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;

final class RequestStateTest {
  /// Row: the state; column: the update; each in the order of the constants.
  private static final RequestState[][] AFTER = {
    {FAILED, FAILED, FAILED, FAILED, FAILED},
    {FAILED, BOOTSTRAPPING, WAITING_FOR_INPUT, TRANSFERRING, SUCCESS},
    {FAILED, WAITING_FOR_INPUT, WAITING_FOR_INPUT, TRANSFERRING, SUCCESS},
    {FAILED, TRANSFERRING, TRANSFERRING, TRANSFERRING, SUCCESS},
    {FAILED, SUCCESS, SUCCESS, SUCCESS, SUCCESS}};

  @Test
  void everyTransition_goesForwardOrFails() {
    RequestState[] states = RequestState.values();
    for (RequestState from : states) {
      for (RequestState update : states) {
        assertThat(from.after(update)).as("%s after %s", from, update)
            .isEqualTo(AFTER[from.ordinal()][update.ordinal()]);
      }
    }
  }

  @Test
  void aGroup_hasTheLeastStateOfItsRanks() {
    for (RequestState one : RequestState.values()) {
      for (RequestState other : RequestState.values()) {
        RequestState group = RequestState.ofGroup(List.of(one, other, SUCCESS));
        assertThat(group).isEqualTo(one.compareTo(other) < 0 ? one : other);
        assertThat(group == FAILED).isEqualTo(one == FAILED || other == FAILED);
      }
    }
    assertThatThrownBy(() -> RequestState.ofGroup(List.of())).hasMessageContaining("at least one");
  }

  @Test
  void onlyTheEnds_areFinal() {
    assertThat(RequestState.values()).filteredOn(RequestState::isFinal).containsExactly(FAILED, SUCCESS);
  }
}
