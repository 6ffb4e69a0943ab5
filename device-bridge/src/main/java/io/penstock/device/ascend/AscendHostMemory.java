package io.penstock.device.ascend;

import io.penstock.block.BlockScope;
import io.penstock.device.memory.HostMemory;
import io.penstock.device.memory.HostMemorySource;
import io.penstock.device.memory.MemoryListener;
import reactor.core.publisher.Mono;

/// Host memory through the driver of one device, by its [DriverPages], on its thread.
record AscendHostMemory(String device, AscendMemory memory, MemoryListener listener) implements HostMemorySource {
  @Override
  public String name() {
    return "host memory of " + device;
  }

  @Override
  public Mono<HostMemory> allocate(long bytes, BlockScope scope) {
    return memory.allocateHost(bytes, scope, listener)
        .doOnNext(made -> made.fallbacks().forEach(each -> listener.fellBack(name(), each)));
  }
}
