"""Pages of plans: what fits, what a drain does, and what a change makes of a simulation."""

from kubesched.lazy_exports import lazy_exports

with lazy_exports(__name__):
    from kubesched.pages.plans.check_page import check_page as check_page
    from kubesched.pages.plans.devices_page import devices_page as devices_page
    from kubesched.pages.plans.difference_parts import with_difference as with_difference
    from kubesched.pages.plans.drain_page import drain_page as drain_page
    from kubesched.pages.plans.drain_tables import each_page as each_page, most_page as most_page
    from kubesched.pages.plans.each_zone_page import each_zone_page as each_zone_page
    from kubesched.pages.plans.fit_page import fit_page as fit_page
    from kubesched.pages.plans.shapes_page import shapes_page as shapes_page
