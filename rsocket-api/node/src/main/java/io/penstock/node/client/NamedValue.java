package io.penstock.node.client;

import io.penstock.block.BlockScope;
import io.penstock.flow.ValueStore;
import io.penstock.node.cli.Console;
import io.penstock.node.cli.ExitCode;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.config.Sizes;
import io.penstock.node.config.SpaceSettings;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.time.Duration;
import reactor.core.publisher.Flux;

/// One value of any length under a name, put from a file and got back, by a command.
///
/// @param patience longest wait for an answer
record NamedValue(Console console, String name, Duration patience, boolean json) {
  /// The outcome in JSON.
  ///
  /// @param stored whether this command stored it; always false of a get
  /// @param found whether the node had it already
  record Outcome(String name, long bytes, boolean stored, boolean found) {}

  /// @throws IllegalArgumentException if the options state no space of values
  NamedValue {
    if (name.isBlank()) {
      throw new IllegalArgumentException("--name must not be blank (was " + name + ")");
    }
  }

  static void requireSpace(NodeConfig config) {
    if (!config.states(SpaceSettings.VALUE_PART_BYTES)) {
      throw new IllegalArgumentException(
          "--value-part-bytes must be given with --name, for a name is of a value (was left out)");
    }
  }

  int put(NodeLink node, Path file) throws IOException {
    try (FileChannel from = FileChannel.open(file); Arena arena = Arena.ofShared()) {
      long length = from.size();
      MemorySegment bytes = length == 0 ? MemorySegment.NULL : from.map(MapMode.READ_ONLY, 0, length, arena);
      boolean stored =
          Answers.of(new ValueStore(node.tier()).put(name, length, length == 0 ? Flux.empty() : Flux.just(bytes)),
              patience);
      tell(new Outcome(name, length, stored, !stored),
          "%s, %s: %s".formatted(name, Sizes.human(length), stored ? "stored" : "there already"));
      return ExitCode.OK;
    }
  }

  int get(NodeLink node, WritableByteChannel to) {
    try (BlockScope scope = new BlockScope()) {
      ValueStore.Value value = new ValueStore(node.tier()).get(name, scope).block(patience);
      if (value == null) {
        tell(new Outcome(name, 0, false, false), "missing " + name);
        return ExitCode.FOUND_FAILURE;
      }
      for (ValueStore.Part each : value.parts().toIterable(1)) {
        try (ValueStore.Part part = each) {
          part.read(memory -> {
            Channel.writeAll(to, memory.asByteBuffer());
            return true;
          });
        }
      }
      tell(new Outcome(name, value.length(), false, true),
          "%s, %s, verified on arrival".formatted(name, Sizes.human(value.length())));
      return ExitCode.OK;
    }
  }

  private void tell(Outcome outcome, String sentence) {
    if (json) {
      console.json(outcome);
    } else {
      console.say(sentence);
    }
  }
}
