package io.penstock.device;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.block.Block;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockScope;
import io.penstock.device.DeviceFailure.CopyFailedException;
import io.penstock.device.sim.CopyFault;
import io.penstock.device.sim.CopyFaults;
import io.penstock.device.sim.SimulatedDevice;
import io.penstock.device.sim.SimulatedDeviceOptions;
import io.penstock.stage.Batch;
import io.penstock.stage.Stage;
import io.penstock.testkit.StageContract;
import io.penstock.testkit.StageFixtures;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

final class DownloadTest extends StageContract<DeviceBlock, Block> {
  private final Scheduler thread = Schedulers.newSingle("device");
  private volatile CopyFaults faults = CopyFaults.none();
  private final Device device = new SimulatedDevice(SimulatedDeviceOptions.defaults(1 << 20), thread,
      (number, batch) -> faults.of(number, batch));
  private final DeviceBridge bridge = requireNonNull(DeviceBridge.open(device, StageFixtures.SPACE.layout(),
      new DeviceBridgeOptions(64, new Batch.Options(3, 1 << 20, Duration.ofHours(1)), 4), timer).block(LIMIT));
  private final DeviceBridge single = requireNonNull(DeviceBridge.open(device, StageFixtures.SPACE.layout(),
      new DeviceBridgeOptions(64, new Batch.Options(1, 1 << 20, Duration.ofHours(1)), 4), timer).block(LIMIT));

  @BeforeEach
  void watchDevice() {
    leaks.watch("slots of the bridge", bridge::claimedSlots);
    leaks.watch("slots of the other bridge", single::claimedSlots);
  }

  @AfterEach
  void closeDevice() {
    bridge.close().then(single.close()).block(LIMIT);
    device.close().block(LIMIT);
    thread.dispose();
  }

  @Override
  protected Stage<DeviceBlock, Block> stage(BlockScope scope) {
    return bridge.download(arena, scope);
  }

  /// Uploaded one by one.
  @Override
  protected Flux<DeviceBlock> inputs(int count, BlockScope scope) {
    return StageFixtures.blocks(count, arena, scope).transform(single.upload(scope));
  }

  @Override
  protected long outputs(int inputs) {
    return inputs;
  }

  @Override
  protected long pulled(long demand) {
    return demand == 0 ? 0 : 3 * (Math.ceilDiv(demand, 3L) + 1);
  }

  @Override
  protected void assertFreed() {
    leaks.awaitEmpty(LIMIT);
  }

  @Test
  void download_corruptOnItsWay_isNamedAndNothingOfItsBatchComes() {
    StepVerifier.create(scoped(scope -> inputs(3, scope).collectList()
        .doOnNext(there -> faults = CopyFaults.at(4, new CopyFault.Corrupt(1, 70)))
        .flatMapMany(Flux::fromIterable).transform(stage(scope))))
        .expectErrorSatisfies(error -> {
          BlockCorruptException corrupt = (BlockCorruptException) error;
          assertThat(corrupt.key()).isEqualTo(StageFixtures.key(1));
          assertThat(corrupt.granule()).isOne();
        }).verify(LIMIT);
    leaks.awaitEmpty(LIMIT);
  }

  @Test
  void download_deviceFails_isTheStreamsErrorAndFreesAll() {
    StepVerifier.create(scoped(scope -> inputs(3, scope).collectList()
        .doOnNext(there -> faults = CopyFaults.at(4, new CopyFault.Fail(2, 507_053)))
        .flatMapMany(Flux::fromIterable).transform(stage(scope))))
        .expectErrorSatisfies(error -> assertThat(((CopyFailedException) error).failIndex()).isEqualTo(2))
        .verify(LIMIT);
    leaks.awaitEmpty(LIMIT);
  }
}
