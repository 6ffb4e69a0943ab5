package io.penstock.node.device;

import io.penstock.device.ascend.AscendDevices;
import io.penstock.device.ascend.AscendListener;
import io.penstock.device.ascend.AscendOptions;
import io.penstock.node.cli.UnavailableException;
import io.penstock.node.config.AscendSettings;
import io.penstock.node.config.NodeConfig;
import io.penstock.node.setting.Setting;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Library of Ascend devices for a command: a flag for its path, and the environment for all [AscendSettings].
public final class LibraryOption {
  public static final String FLAG = "--ascend-lib";

  @Option(names = FLAG, paramLabel = "FILE",
      description = {"Library of the devices.",
        "  Default: " + AscendDevices.LIBRARY_VARIABLE + ", else libascendcl.so where the system looks for libraries"})
  private @Nullable String path;

  private final Map<String, String> environment;

  public LibraryOption(Map<String, String> environment) {
    this.environment = environment;
  }

  /// The given path, or null.
  public @Nullable String path() {
    return path;
  }

  /// Everything that is said of devices.
  ///
  /// @param more texts of other flags
  public NodeConfig config(Map<Setting<?>, String> more) {
    Map<Setting<?>, String> flags = new HashMap<>(more);
    if (path != null) {
      flags.put(AscendSettings.LIBRARY, path);
    }
    return NodeConfig.resolve(null, environment, flags);
  }

  AscendOptions options() {
    return AscendSettings.options(config(Map.of()));
  }

  /// Empty if there is no library.
  Optional<AscendDevices> find() {
    return AscendDevices.find(options(), AscendListener.noop());
  }

  AscendDevices require() {
    return find().orElseThrow(() -> new UnavailableException(absent()));
  }

  String absent() {
    return "a library of Ascend devices must be there, or be named with --ascend-lib (looked for "
        + AscendDevices.lookedFor(options()) + ")";
  }
}
