package io.penstock.node.device;

import io.penstock.device.ascend.AscendDevices;
import io.penstock.device.ascend.AscendListener;
import io.penstock.device.ascend.AscendOptions;
import io.penstock.node.cli.UnavailableException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/// Which library of Ascend devices a command uses.
public final class LibraryOption {
  public static final String FLAG = "--ascend-lib";

  @Option(names = FLAG, paramLabel = "FILE",
      description = {"Library of the devices.", "  Default: " + AscendDevices.LIBRARY_VARIABLE + ", else libascendcl.so where the system looks for libraries"})
  private @Nullable String path;

  /// What was given, null if nothing was.
  public @Nullable String path() {
    return path;
  }

  public AscendOptions options() {
    return path == null ? AscendOptions.defaults() : AscendOptions.defaults().withLibrary(path);
  }

  /// Empty if there is no library.
  Optional<AscendDevices> find() {
    return AscendDevices.find(options(), AscendListener.noop());
  }

  AscendDevices require() {
    return find().orElseThrow(() -> new UnavailableException(absent()));
  }

  String absent() {
    return "a library of Ascend devices must be there, or be named with --ascend-lib (looked for " + AscendDevices.lookedFor(options()) + ")";
  }
}
