package io.penstock.device.ascend;

import io.penstock.device.ascend.acl.AclFunction;
import io.penstock.device.ascend.acl.AclLibrary;
import java.util.List;

/// An optional feature of a library; off where a function for it is missing.
public enum AscendFeature {
  MEMORY_INFO("how much memory a device has", AclFunction.MEMORY_INFO),
  PHYSICAL_IDS("numbers of the machine for devices", AclFunction.PHYSICAL_ID),
  FAST_STREAMS("streams with flags", AclFunction.CREATE_STREAM_WITH_CONFIG),
  BOUNDED_WAIT("waits for a stream that end", AclFunction.SYNCHRONIZE_STREAM_WITH_TIMEOUT),
  STREAM_ABORT("giving up what is on a stream", AclFunction.ABORT_STREAM),
  PHYSICAL_MEMORY("memory and addresses apart", AclFunction.MALLOC_PHYSICAL, AclFunction.FREE_PHYSICAL,
      AclFunction.RESERVE_ADDRESS,
      AclFunction.RELEASE_ADDRESS, AclFunction.MAP, AclFunction.UNMAP),
  IPC_MEMORY("device memory of another process", AclFunction.IPC_EXPORT, AclFunction.IPC_IMPORT, AclFunction.IPC_CLOSE),
  FABRIC_MEMORY("memory that other machines reach", AclFunction.EXPORT_FABRIC, AclFunction.IMPORT_FABRIC),
  ACCESS_RIGHTS("rights on mapped memory", AclFunction.SET_ACCESS);

  private final String meaning;
  private final List<AclFunction> functions;

  AscendFeature(String meaning, AclFunction... functions) {
    this.meaning = meaning;
    this.functions = List.of(functions);
  }

  public String meaning() {
    return meaning;
  }

  /// The functions for it that `library` lacks.
  List<String> missing(AclLibrary library) {
    return functions.stream().filter(function -> !library.has(function)).map(AclFunction::symbol).toList();
  }
}
