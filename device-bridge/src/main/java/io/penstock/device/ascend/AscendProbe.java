package io.penstock.device.ascend;

import io.penstock.device.ascend.acl.AclFunction;
import io.penstock.device.ascend.acl.AclLibrary;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/// Report of a library about itself and about the machine.
///
/// @param library its path, or the name it was found by
/// @param soc name of the chip; empty if the library has none
/// @param release the most similar release of CANN, by exported functions: `8.2`, `8.3` or `9.x`
/// @param devices by number
/// @param features all features, on or off
public record AscendProbe(String library, String soc, String release, List<DeviceFacts> devices,
    List<FeatureFacts> features) {
  public AscendProbe {
    devices = List.copyOf(devices);
    features = List.copyOf(features);
  }

  /// One device.
  ///
  /// @param logicalId number in this process
  /// @param physicalId number on this machine
  /// @param freeBytes free memory; −1 if the library cannot tell
  public record DeviceFacts(int logicalId, int physicalId, long freeBytes) {}

  /// One feature.
  ///
  /// @param missing functions that it would need; none if it is on
  public record FeatureFacts(String name, String meaning, boolean on, List<String> missing) {
    public FeatureFacts {
      missing = List.copyOf(missing);
    }
  }

  static String release(AclLibrary library) {
    return !library.has(AclFunction.EXPORT_FABRIC) ? "8.2" : library.has(AclFunction.SET_ACCESS) ? "9.x" : "8.3";
  }

  static List<FeatureFacts> features(AclLibrary library) {
    return Arrays.stream(AscendFeature.values())
        .map(feature -> new FeatureFacts(feature.name().toLowerCase(Locale.ROOT),
            feature.meaning(), feature.missing(library).isEmpty(), feature.missing(library)))
        .toList();
  }
}
