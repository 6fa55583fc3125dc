"""Write the SBOM of a wheel of usp: its hash, and what it depends on (CycloneDX 1.6, as JSON).

``make sbom``. The same wheel gives the same bytes: the serial number is made of its hash, the time
is that of its files. The wheel contains no dependency; the versions are those installed here.
"""

import hashlib
import sys
from datetime import UTC, datetime
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5
from zipfile import ZipFile

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentScope, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from tools.dependencies import Dependency, dependencies, required_directly


def sbom_of(wheel: Path) -> str:
    """Return the SBOM of a wheel as JSON."""
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    root = _component("usp", wheel.name.split("-")[1], "MIT")
    root.hashes.add(HashType(alg=HashAlgorithm.SHA_256, content=digest))
    depended = dependencies()
    components = {one.name: _dependency(one) for one in depended}
    bom = Bom(
        serial_number=uuid5(NAMESPACE_URL, digest),
        metadata=BomMetaData(component=root, timestamp=_time_of(wheel)),
        components=components.values(),
    )
    bom.register_dependency(root, [components[name] for name in required_directly()])
    for one in depended:
        bom.register_dependency(components[one.name], [components[name] for name in one.requires])
    return JsonV1Dot6(bom).output_as_string(indent=2) + "\n"


def _dependency(one: Dependency) -> Component:
    component = _component(one.name, one.version, one.licence)
    component.scope = ComponentScope.OPTIONAL if one.extras else ComponentScope.REQUIRED
    for extra in one.extras:
        component.properties.add(Property(name="usp:extra", value=extra))
    return component


def _component(name: str, version: str, licence: str) -> Component:
    package = PackageURL("pypi", name=name, version=version)
    return Component(
        name=name,
        version=version,
        type=ComponentType.LIBRARY,
        purl=package,
        bom_ref=package.to_string(),
        licenses=[LicenseFactory().make_from_string(licence)],
    )


def _time_of(wheel: Path) -> datetime:
    with ZipFile(wheel) as archive:
        return max(datetime(*entry.date_time, tzinfo=UTC) for entry in archive.infolist())


def main() -> None:
    """Write the SBOM beside the wheel that is named."""
    wheel = Path(sys.argv[1])
    target = wheel.with_name(f"{wheel.stem}.cdx.json")
    target.write_text(sbom_of(wheel), encoding="utf-8")
    sys.stdout.write(f"{target}\n")


if __name__ == "__main__":
    main()
